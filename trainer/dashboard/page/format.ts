const dash = '–'

/** A number with its digits, a true minus, and a dash where there is none. */
export const number = (value: number | null | undefined, digits = 2): string =>
  value === null || value === undefined || Number.isNaN(value) ? dash : value.toFixed(digits).replace('-', '−')

/** Change with its sign and an arrow: colour comes second. */
export const change = (value: number | null | undefined, digits = 2): string => {
  if (value === null || value === undefined || Number.isNaN(value)) return dash
  const text = number(Math.abs(value), digits)
  if (Number(value.toFixed(digits)) === 0) return `±${text}`
  return value > 0 ? `▲ +${text}` : `▼ −${text}`
}

export const percent = (share: number | null | undefined, digits = 0): string =>
  share === null || share === undefined || Number.isNaN(share) ? dash : `${(100 * share).toFixed(digits)} %`

/** As short as its size allows: for axes and small numbers such as a learning rate. */
export const compact = (value: number): string => {
  const size = Math.abs(value)
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace('-', '−').replace('e+', 'e')
  return String(Number(value.toPrecision(4))).replace('-', '−')
}

export const duration = (seconds: number): string => {
  const whole = Math.round(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`
}

export const ago = (iso: string, now = Date.now()): string => {
  const seconds = (now - Date.parse(iso)) / 1000
  if (!Number.isFinite(seconds)) return dash
  if (seconds < 5) return 'just now'
  return seconds < 86_400 * 2 ? `${duration(seconds)} ago` : iso.slice(0, 10)
}

export const plural = (count: number, word: string): string =>
  `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`

export const mean = (values: readonly (number | null | undefined)[]): number | null => {
  const known = values.filter((value): value is number => typeof value === 'number' && !Number.isNaN(value))
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length
}

export const words = (name: string): string => name.replaceAll('_', ' ')
