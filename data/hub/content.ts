import { stat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { hashFor, matches, type Fingerprint } from './checksum.ts'

/** A file that goes to the hub: text that was made for it, or a file of this machine as it is. */
export type HubFile = { readonly path: string } & ({ readonly text: string } | { readonly file: string })

export const bytesOf = async (file: HubFile): Promise<number> =>
  'text' in file ? Buffer.byteLength(file.text) : (await stat(file.file)).size

/** The form that the library sends; a file is read while it is sent. */
export const contentOf = (file: HubFile): Blob | URL =>
  'text' in file ? new Blob([file.text]) : pathToFileURL(file.file)

/** Is this what the hub has? */
export const isSame = async (file: HubFile, there: Fingerprint): Promise<boolean> => {
  if ('file' in file) return await matches(file.file, there)
  const content = Buffer.from(file.text)
  return content.length === there.size && hashFor(there).update(content).digest('hex') === there.hash
}
