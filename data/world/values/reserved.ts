const words = (text: string): string[] => text.trim().split(/\s+/)
const phrases = (text: string): string[] => text.trim().split(/\s*,\s*/)

/** Words that only held-out trajectories use, about one for every four of the training split's. */
export const reserved = {
  person: words(`alice bruce colin derek esther fergus gemma howard imogen jarek kamil leonie mateus nadine orlando
    pascal quentin rufus sabine thelma umberto valerie wesley yasmin zelda brigitte cornelius dorothea ewan floris
    gareth henrik isolde joachim3 nigel7 clive9`),
  topic: [
    ...words(`syllabary voucher subpoena stipend dividend escrow rebate tariff dossier itemlist appendix glossary errata
      census fixture cleanup harvest banquet uniform mascot turbine elevator antenna chimney drainage`),
    ...phrases('museum permit, harvest plan, brochure layout, turbine update, choir stipend, census draft'),
    'parcel17',
    'dossier8',
  ],
  song: [
    ...words(`gravity satellite waterfall wildfire snowflake firefly butterfly hummingbird sandcastle windmill mosaic
      kaleidoscope parachute trapeze labyrinth pyramid obelisk avalanche quicksand driftwood moonstone starling
      magnolia jasmine wisteria`),
    ...phrases('paper moon, broken compass, summer static, falling leaves, northern sky, hollow tree'),
    'skylark31',
  ],
  artist: [
    ...words(`brindle cassia dunlin egret fulmar grackle heron ibis jacana kinglet linnet merlin noctule osprey petrel
      plover redstart siskin tanager vireo whimbrel xerus yellowtail zorilla`),
    ...phrases('blue herons, copper bells, silent ferns, paper tigers, broken clocks, amber wasps'),
    'cosmonaut5',
  ],
  playlist: [
    ...words(`knitting juggling fencing rowing archery origami baking drifting stargazing harvest
      lakeside hammock fireplace campfire jukebox vinyl cassette bluegrass flamenco fado ska dubstep`),
    ...phrases('late harvest, slow thursday, lake morning, rainy garage, old vinyl, first snow'),
  ],
  file: words(`syllabus.pdf voucher.pdf recital.mp3 seating.csv floorplan.png herbs.txt chores.txt packing.txt tides.csv
    ferry.pdf parking.pdf choir.mid snippets.txt glossary.doc errata.txt census.csv antenna.svg turbine.obj
    harvest.xls stipend.xls panorama.jpg balcony.jpg kittens.mp4 trailer.mp4 jingle.wav backlog.xls router.ini
    cleanup.sh crawler.py notebook.tex widget.js`),
  folder: [
    ...words(`blueprints vouchers itineraries recordings samples prototypes brochures catalogs agendas surveys
      interviews transcripts timesheets stationery genealogy astronomy beekeeping woodwork ceramics
      calligraphy origami turbines`),
    ...phrases('winter scans, choir notes, harvest photos, museum docs, ferry files, school work'),
  ],
  item: [
    ...words(`accordion binoculars corkscrew doorbell easel funnel globe hammock igloo juicer ladle metronome napkin
      ottoman peeler quilt rake sieve trowel ukulele vacuum wagon xylophone yardstick zipper`),
    ...phrases('brass funnel, linen quilt, garden gnome, paper lantern, glass vase, cork board'),
    'spool44',
  ],
  channel: [
    ...words(`astronomy beekeeping ceramics debating esperanto fencing hydrology isobars juggling knitting
      linguistics meteorology numismatics origami philately quilting robotics sculpture typography upcycling
      viticulture woodwork`),
    ...words('bug-bash tea-time lab-notes hot-fixes sea-views stand-in'),
    'quorum6',
    'troupe12',
  ],
  group: [
    ...words(`archery beekeeping ceramics debate easteregg fencing glamping harvest icerink juggling kayaking limousine
      masquerade newborn orchestra pottluck quiznight rowing snowshoe treasurehunt umpires windsurf yacht`),
    ...phrases('oslo trip, choir dinner, harvest party, museum tour, ferry rent, canoe fund'),
    'chalet14',
  ],
  event: [
    ...words(`appraisal calibration demolition eyetest fireworks glazing hatching harvest induction jubilee
      layover masterclass naming orientation pruning quiznight rewiring sculpting tollgate unveiling vetting
      welding yardsale`),
    ...phrases('museum visit, harvest lunch, violin lesson, ferry check, parents evening, garden tour'),
    'heat23',
  ],
  tag: words(`ferry harvest parcel voucher brochure ceramic turbine antenna chimney mascot
    uniform banquet census orchid violet lilac cobweb magnet pebble ribbon saddle thimble walnut yogurt zebra stage6
    acorn feather cinnamon nutmeg clover thistle band21`),
} as const satisfies Readonly<Record<string, readonly string[]>>
