const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** What XML 1.0 has no way to write, even escaped: control characters except white space, lone surrogates, two code points. */
const forbidden = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu

/** Makes text harmless in XML and HTML, in content and in quoted attributes. */
export const escapeXml = (text: string): string =>
  text.replace(forbidden, '\uFFFD').replace(/[&<>"']/g, (character) => entities[character] ?? character)
