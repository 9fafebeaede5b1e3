/** Castagnoli's polynomial, bits in reverse. */
const polynomial = 0x82f63b78

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ polynomial : value >>> 1
  return value
})

/** CRC-32C of some bytes (RFC 3720, appendix B.4 has examples). */
export const crc32c = (bytes: Uint8Array): number => {
  let value = 0xffffffff
  for (const byte of bytes) value = (table[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}

/** The same as TensorFlow's records hold it: turned by 15 bits, and a constant added. */
export const maskedCrc32c = (bytes: Uint8Array): number => {
  const value = crc32c(bytes)
  return (((value >>> 15) | (value << 17)) + 0xa282ead8) >>> 0
}
