import { escapeXml } from '../markup.ts'
import type { ReportContent } from './content.ts'
import type { Figure } from './figures.ts'
import { background, ink, muted } from './palette.ts'
import type { Table } from './tables.ts'

const colours = (theme: 'light' | 'dark'): string =>
  `:root{--bg:${background[theme]};--ink:${ink[theme]};--muted:${muted[theme]}}`

const style = `${colours('light')}@media (prefers-color-scheme:dark){${colours('dark')}}
:root{color-scheme:light dark}
body{background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:0 auto;padding:1rem}
a{color:inherit}a:focus-visible,summary:focus-visible,[tabindex]:focus-visible{outline:3px solid #3C9BD6;outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}
.verdict{border:2px solid var(--ink);border-radius:.4rem;padding:.6rem 1rem;font-weight:600}
figure{margin:1.5rem 0}figure svg{max-width:100%;height:auto}figcaption{color:var(--muted)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}
caption{text-align:left;font-weight:600;padding:.4rem 0}
th,td{border-bottom:1px solid var(--muted);padding:.2rem .6rem;text-align:right;white-space:nowrap}
th[scope=row],th:first-child,dt{text-align:left}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem}dt{color:var(--muted)}dd{margin:0}
@media print{details{display:block}}`

const tableHtml = ({ title, header, rows }: Table): string => {
  const head = header.map((cell) => `<th scope="col">${escapeXml(cell)}</th>`).join('')
  const body = rows.map(([first = '', ...rest]) => {
    const cells = rest.map((cell) => `<td>${escapeXml(cell)}</td>`).join('')
    return `<tr><th scope="row">${escapeXml(first)}</th>${cells}</tr>`
  })
  // Wide tables scroll by themselves; a keyboard has to reach them for that.
  return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeXml(title)}"><table><caption>${escapeXml(title)}</caption><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`
}

const figureHtml = ({ id, title, caption, svg, table }: Figure): string =>
  `<section aria-labelledby="${id}-heading"><h2 id="${id}-heading">${escapeXml(title)}</h2><figure>${svg}<figcaption>${escapeXml(caption)}</figcaption></figure><details><summary>Show as table: ${escapeXml(title)}</summary>${tableHtml(table)}</details></section>`

/** One file that opens from a disk: no script, nothing is loaded, every chart has its table behind it. */
export const htmlReport = ({ title, headline, facts, notes, figures, tables }: ReportContent): string =>
  `${[
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeXml(title)}</title><style>${style}</style></head><body>`,
    '<a class="skip" href="#main">Skip to the report</a>',
    `<main id="main"><h1>${escapeXml(title)}</h1><p class="verdict">${escapeXml(headline)}</p>`,
    `<dl>${facts.map(([name, value]) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(value)}</dd>`).join('')}</dl>`,
    ...figures.map(figureHtml),
    '<section aria-labelledby="tables-heading"><h2 id="tables-heading">Tables</h2>',
    ...tables.map(tableHtml),
    '</section><section aria-labelledby="notes-heading"><h2 id="notes-heading">How to read it</h2>',
    `<ul>${notes.map((note) => `<li>${escapeXml(note)}</li>`).join('')}</ul></section></main></body></html>`,
  ].join('\n')}\n`
