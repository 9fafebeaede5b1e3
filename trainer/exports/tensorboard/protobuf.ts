/** Protocol-buffer fields of the wire types that TensorBoard's events need: variable-length, 64 bits, bytes, 32 bits. */
const key = (field: number, wireType: 0 | 1 | 2 | 5): Buffer => varint(field * 8 + wireType)

/** A whole number from 0 up to 2^53, seven bits a byte. */
const varint = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  bytes.push(rest)
  return Buffer.from(bytes)
}

const float64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

export const wholeField = (field: number, value: number): Buffer => Buffer.concat([key(field, 0), varint(value)])

export const doubleField = (field: number, value: number): Buffer => Buffer.concat([key(field, 1), float64(value)])

export const floatField = (field: number, value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return Buffer.concat([key(field, 5), bytes])
}

/** Text, a message, or packed numbers. */
export const bytesField = (field: number, value: string | Uint8Array): Buffer => {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value
  return Buffer.concat([key(field, 2), varint(bytes.length), bytes])
}

export const packedDoubles = (field: number, values: readonly number[]): Buffer =>
  bytesField(field, Buffer.concat(values.map(float64)))
