const save = (name: string, blob: Blob): void => {
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), 60_000)
}

export const downloadText = (name: string, text: string, type: string): void =>
  save(name, new Blob([text], { type: `${type};charset=utf-8` }))

const copied = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'fill-opacity',
  'font-size',
  'font-family',
  'font-weight',
]

/** The picture with its colours written into it: outside this page there is no style sheet. */
const standalone = (picture: SVGElement): string => {
  const copy = picture.cloneNode(true) as SVGElement
  const [from, to] = [
    [picture, ...picture.querySelectorAll('*')],
    [copy, ...copy.querySelectorAll('*')],
  ]
  for (const [i, element] of from.entries()) {
    const style = getComputedStyle(element)
    for (const name of copied) to[i]?.setAttribute(name, style.getPropertyValue(name))
  }
  const ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  ground.setAttribute('width', '100%')
  ground.setAttribute('height', '100%')
  ground.setAttribute('fill', getComputedStyle(picture.closest('.card') ?? document.body).backgroundColor)
  copy.prepend(ground)
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return new XMLSerializer().serializeToString(copy)
}

export const downloadSvg = (name: string, picture: SVGElement | null): void => {
  if (picture !== null) downloadText(name, standalone(picture), 'image/svg+xml')
}

/** Twice the size on the screen: sharp in a paper. */
export const downloadPng = async (name: string, picture: SVGElement | null): Promise<void> => {
  if (picture === null) return
  const box = picture.getBoundingClientRect()
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(picture))}`
  await image.decode()
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(box.width * 2)
  canvas.height = Math.round(box.height * 2)
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height)
  canvas.toBlob((blob) => {
    if (blob !== null) save(name, blob)
  }, 'image/png')
}
