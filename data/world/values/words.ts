/**
 * Word lists of the simulated world: short everyday words, compounds and names with digits. Held-out trajectories
 * have lists of their own, in reserved.ts.
 */
const words = (text: string): string[] => text.trim().split(/\s+/)

/** Pairs of a first and a second word, one shift further in each round, so that none comes twice. */
const pairs = (first: string, second: string, count: number): string[] => {
  const heads = words(first)
  const tails = words(second)
  return Array.from({ length: count }, (_, i) => {
    const at = i % heads.length
    return `${heads[at]} ${tails[(at + Math.floor(i / heads.length)) % tails.length]}`
  })
}

/** Words with a number behind them, such as room7. */
const numbered = (text: string): string[] => words(text).map((word, i) => `${word}${((i * 13) % 89) + 2}`)

export const people = [
  ...words(`ana gus mia leo ivy tom zoe max eva ben kim joe lia sam nora hugo iris otto vera paul rosa finn
    gina karl lena marc nina omar pia rolf sara theo ulla vito wanda xenia yuri zara alma boris celia dario
    elsa fritz greta hanna igor jana klaus lotte milo nadia olga petra quinn ralf sofia tilda udo viola willy
    yves adele bruno clara david emil fiona georg heidi ingo julia kevin laura mario nils oscar paula rita
    simon tanja ugo vince wilma anton bella cesar diana edgar felix gloria hilda isaac jonas katja lukas maria
    norma orson pablo ruben silvia tobias ursula victor walter agnes bodo carmen doris ernst frida gerd helga
    ilse jakob kirsten hilde lorenz magnus nele osman pelle rasmus sven tove ulrik vesna wim  linus moritz noemi ophelia perla raul stella tamara`),
  ...words('ana2 leo7 sam4 kim9 max3 joe5 mia8 tom6 ben11 eva12'),
]

export const topics = [
  ...words(`budget report invoice lease visa rent survey merger audit recipe garden tax bonus contract roadmap
    launch memo draft agenda payroll quote refund claim policy permit grant thesis exam syllabus bylaw ledger
    forecast backlog release incident outage migration training hiring salary pension insurance mortgage repair
    delivery shipment warranty catalog pricing tender briefing minutes manual blueprint sketch proposal summary
    checklist inventory schedule itinerary passport license registry patent charter treaty petition ballot
    donation charity newsletter interview podcast webinar keynote prototype benchmark sensor firmware backup
    password router printer scanner parking carpool canteen heating plumbing wiring roofing painting flooring`),
  ...pairs(
    'tax team spring client board travel office winter garden school',
    'plan review notes offer budget list forms update trip',
    36,
  ),
  ...numbered('case ticket draft plan doc item form spec order brief'),
]

export const songs = [
  ...words(`halo yesterday imagine thunder wonder echo ember drift lagoon mirage aurora comet eclipse nebula solstice
    harbor lantern willow juniper saffron velvet copper marble quartz indigo scarlet crimson amber ivory cobalt
    monsoon blizzard breeze tempest hurricane sunrise twilight midnight daybreak horizon canyon prairie tundra
    savanna glacier delta fjord island meadow orchard vineyard lighthouse carousel marionette pendulum compass
    anchor voyage odyssey nomad gypsy pilgrim ranger outlaw renegade maverick phantom shadow whisper silence
    heartbeat lullaby serenade nocturne ballad anthem reverie fantasia rhapsody caprice sonata minuet polka
    bolero tango samba rumba fandango galliard pavane courante gigue musette barcarole`),
  ...pairs(
    'blue slow lost wild last golden silver paper hollow distant',
    'river train summer moon dancer road mirror garden fire',
    38,
  ),
  ...numbered('track take opus loop theme side room dream'),
]

export const artists = [
  ...words(`abbax lumen korvu tasha belmo dervin solka marnie oxbow fenner galax hyla jorvik kestrel lomax moraine
    nyx oriole pallas quill rowan sorrel tarn umber vesper wrenna yarrow zephyr alder birch cedar dune elm fennel
    gorse heath isle jasper kelp larch maple nettle oak peat quince reed sedge thorn umbel vale wold yew ash
    basalt chert dolomite feldspar gneiss hornfels jade kyanite lapis mica obsidian pyrite rhyolite shale topaz
    zircon astrid bjork cosmo delphi enzo freyja gulliver hektor inara jupiter kosmos lyra mercury neptune orion
    pluto rigel sirius titan vega zenith`),
  ...pairs(
    'the red night old iron velvet stone wild desert city',
    'foxes owls wolves kings sparrows tides pilots lions giants',
    34,
  ),
  ...numbered('unit sector gate zone level radio motel'),
]

export const playlists = [
  ...words(`focus gym chill party sleep roadtrip morning cooking workout running yoga study coding dinner brunch lounge
    jazz blues metal disco techno opera swing reggae latin celtic gospel grunge punk soul funk ambient acoustic
    classics oldies covers remixes demos favorites discover weekly monthly summer winter autumn holiday wedding
    birthday commute cleaning gaming reading writing painting walking hiking cycling sailing surfing skiing
    camping barbecue picnic sunset evening weekend nightcap calm energy upbeat mellow dreamy moody happy sad
    nostalgia romance kids family guests kitchen garage studio beach attic rooftop balcony terrace harbor forest
    desert storm rainbow river ocean siesta bus house bossa`),
  ...pairs('late rainy sunny deep long quiet loud old new soft', 'night drive sunday work run mix set hour', 36),
  ...numbered('mix set tape list vol session best top'),
]

export const files = [
  ...words(`plan.txt cv.pdf logo.png taxes.csv lease.pdf notes.md rates.csv menu.pdf map.png todo.txt bill.pdf keys.txt
    deck.ppt photo.jpg scan.pdf grades.csv essay.doc story.txt poem.txt score.mid demo.mp3 clip.mp4 intro.wav
    model.obj parts.csv stock.csv sales.csv costs.csv team.csv roster.csv leads.csv users.csv orders.csv log.txt
    trace.log debug.log config.ini setup.sh build.sh readme.md draft.doc final.doc letter.doc memo.doc offer.doc
    quote.pdf terms.pdf policy.pdf permit.pdf visa.pdf ticket.pdf pass.pdf guide.pdf manual.pdf flyer.pdf poster.png
    banner.png icon.svg chart.svg graph.png plot.png sketch.png mockup.png cover.jpg team.jpg garden.jpg house.jpg
    car.jpg cat.jpg dog.jpg beach.jpg trip.zip backup.zip photos.zip archive.tar dump.sql schema.sql data.json
    users.json rates.json index.html style.css app.js main.py test.py train.py report.tex paper.tex slides.tex
    thesis.pdf budget.xls salary.xls hours.xls rota.xls bonus.xls invest.xls pricing.xls forecast.xls`),
  ...numbered('report draft scan photo page sheet track log note bill quote plan form list claim memo').map(
    (name) => `${name}.pdf`,
  ),
  ...numbered('data table export rates totals batch sample run week month').map((name) => `${name}.csv`),
]

export const folders = [
  ...words(`work home taxes photos music legal design school bills travel recipes health garden finance clients vendors
    projects archive shared public private drafts reports receipts contracts invoices letters manuals backups
    exports imports assets fonts icons videos audio books papers slides models datasets scripts logs tests
    releases marketing support research hiring payroll events press brand maps plans permits insurance pension
    mortgage vehicles kitchen garage attic cellar studio family kids pets sports hobby chess sailing cycling
    hiking camping fishing running yoga theatre cinema museum gallery library inbox outbox staging sandbox mirror
    vault locker drawer shelf bench depot pantry balcony harbour island`),
  ...pairs('old new team client tax spring autumn board', 'files scans notes photos work docs', 34),
  ...numbered('box year batch case unit shelf disk'),
]

export const items = [
  ...words(`lamp mug desk chair kettle tent rope drill boots scarf pillow blanket towel mirror clock vase candle basket
    bucket broom mop sponge soap shampoo razor comb brush toothpaste lotion perfume backpack wallet belt gloves
    hat cap umbrella raincoat jacket sweater jeans socks sandals sneakers slippers watch ring necklace bracelet
    sunglasses camera tripod lens speaker headphones keyboard mouse monitor webcam charger cable adapter battery
    flashlight compass hammer wrench pliers screwdriver saw ladder paint nails hooks glue tape scissors stapler
    notebook pen pencil marker eraser ruler stickers puzzle kite yoyo drone scooter helmet skates racket
    dumbbell treadmill toaster blender mixer grill skillet teapot thermos`),
  ...pairs(
    'red oak mini steel wool desk garden travel folding cotton',
    'lamp shelf rug fan bag stool box mat cup bench',
    40,
  ),
  ...numbered('usb hub bulb pack kit set filter cartridge'),
]

export const channels = [
  ...words(`general random design sales support ops infra backend frontend mobile security legal finance hr marketing
    growth product research data ml qa release incidents alerts deploys builds metrics feedback ideas lunch coffee
    books movies music pets plants sports running cycling climbing chess gaming photos travel parents newcomers
    alumni interns managers mentors speakers events webinars podcast press social brand content video docs
    writing translation localization accessibility performance database search payments billing checkout
    shipping warehouse vendors partners legalops compliance privacy audit procurement facilities parking travelers
    remote berlin paris madrid lisbon oslo dublin vienna prague rome athens warsaw zurich geneva milan porto bergen
    aarhus tampere tartu storage compiler writers editors artists physics kudos`),
  ...words(`dev-help ui-kit team-red team-blue on-call code-review daily-news job-board lost-found war-room show-tell
    ask-hr ask-it it-desk web-core api-core data-eng site-ops book-club film-club car-share new-hires`),
  ...numbered('proj team floor squad room lab guild pod cell'),
]

export const groups = [
  ...words(`trip flat dinner ski picnic roommates camping wedding birthday festival barbecue cabin boat lake hike concert
    potluck brunch gift reunion retreat carpool groceries internet electricity gas water rent heating cleaning
    garden pets babysitting tickets museum theatre cinema karaoke bowling paintball surfing sailing rafting
    climbing fishing marathon cycling football tennis padel golf chess poker bingo bookclub choir band drama
    dance pottery cooking wine coffee lunch offsite conference hackathon workshop seminar fundraiser raffle
    tombola carnival halloween easter newyear honeymoon farewell housewarming babyshower graduation prom
    anniversary roadtrip safari cruise pilgrimage`),
  ...pairs(
    'rome lake ski summer team house beach city family garden',
    'trip rent party week dinner house tour fund',
    36,
  ),
  ...numbered('flat room house cabin crew squad tour'),
]

export const events = [
  ...words(`standup retro dentist lunch yoga review demo sync planning kickoff workshop seminar lecture exam interview
    onboarding offsite townhall checkup therapy massage haircut manicure vaccine bloodtest xray surgery physio
    pilates crossfit swimming tennis football rehearsal recital audition premiere screening opening vernissage
    auction viewing inspection handover closing signing hearing trial deposition mediation arbitration
    negotiation pitch roadshow webinar podcast broadcast livestream hackathon sprint grooming triage postmortem
    rollout cutover migration drill inventory stocktake delivery pickup moving painting plumbing gardening
    fitting tuning charity jamboree safari regatta derby marathon relay biathlon cabaret matinee vigil parade fair
    colloquium summit caucus tribunal bonfire tryouts playoff charades
    barbecue picnic brunch dinner breakfast tasting potluck karaoke bowling poker bingo prom gala reception
    graduation baptism engagement`),
  ...pairs(
    'team board client sales budget design choir chess book piano',
    'call meeting class night check review lesson visit',
    36,
  ),
  ...numbered('session round slot shift lab block'),
]

export const tags = [
  ...words(`urgent later todo done private shared draft final idea quote recipe health money family travel legal
    school garden music sport reading movie game gift repair clean shop call mail visit meet learn teach write
    sketch build test fix check verify review approve reject archive follow wait hold block risk bug feature
    question answer decision meeting lesson habit goal dream memory joke story poem song photo map link book
    paper code data chart table form list plan budget tax rent loan car bike train plane hotel beach snow
    rain sun spring summer autumn winter office remote lunch dinner bank stamp mixed hobby craft paint piano guitar
    violin drums choir dance yoga chess cards dice pending billed quiet`),
  ...numbered('prio level phase wave tier rank grade class kw step'),
]
