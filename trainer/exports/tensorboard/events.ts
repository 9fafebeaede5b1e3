import type { MetricPoint } from '../sink.ts'
import { maskedCrc32c } from './crc32c.ts'
import { bytesField, doubleField, floatField, packedDoubles, wholeField } from './protobuf.ts'

/** A record of TensorFlow's format: length, its checksum, data, its checksum; little-endian. */
export const frame = (data: Uint8Array): Buffer => {
  const record = Buffer.alloc(16 + data.length)
  record.writeBigUInt64LE(BigInt(data.length))
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8)
  record.set(data, 12)
  record.writeUInt32LE(maskedCrc32c(data), 12 + data.length)
  return record
}

/** Fields of tensorflow.Event: wall_time 1 (seconds), step 2, file_version 3, summary 5, session_log 7. */
const event = (at: number, step: number, content: Buffer): Buffer =>
  frame(Buffer.concat([doubleField(1, at / 1000), wholeField(2, step), content]))

/** The first record of every file. */
export const versionEvent = (at: number): Buffer => event(at, 0, bytesField(3, 'brain.Event:2'))

const sessionStart = 1

/** Tells a reader that this step and all later ones are made again: what older files say of them no longer counts. */
export const restartEvent = (at: number, step: number): Buffer =>
  event(at, step, bytesField(7, wholeField(1, sessionStart)))

/** Summary.Value: tag 1, simple_value 2, histo 5. */
const scalar = (tag: string, value: number): Buffer =>
  bytesField(1, Buffer.concat([bytesField(1, tag), floatField(2, value)]))

/** One event with all numbers of a step. Single precision: that is what the format has. */
export const scalarsEvent = ({ at, step, values }: MetricPoint): Buffer =>
  event(at, step, bytesField(5, Buffer.concat(Object.entries(values).map(([tag, value]) => scalar(tag, value)))))

const buckets = 30

/** HistogramProto: min 1, max 2, num 3, sum 4, sum_squares 5, bucket_limit 6, bucket 7. */
const histogram = (values: readonly number[]): Buffer => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const width = (high - low) / buckets || 1
  const counts = Array.from<number>({ length: buckets }).fill(0)
  for (const value of values) {
    const at = Math.min(buckets - 1, Math.floor((value - low) / width))
    counts[at] = (counts[at] ?? 0) + 1
  }
  return Buffer.concat([
    doubleField(1, low),
    doubleField(2, high),
    doubleField(3, values.length),
    doubleField(
      4,
      values.reduce((sum, value) => sum + value, 0),
    ),
    doubleField(
      5,
      values.reduce((sum, value) => sum + value ** 2, 0),
    ),
    packedDoubles(
      6,
      counts.map((_, i) => low + (i + 1) * width),
    ),
    packedDoubles(7, counts),
  ])
}

/** One event with the distributions of a step; lists must not be empty. */
export const histogramsEvent = (
  at: number,
  step: number,
  lists: Readonly<Record<string, readonly number[]>>,
): Buffer => {
  const values = Object.entries(lists).map(([tag, list]) =>
    bytesField(1, Buffer.concat([bytesField(1, tag), bytesField(5, histogram(list))])),
  )
  return event(at, step, bytesField(5, Buffer.concat(values)))
}
