// Parses a page of a listing of a container of Azure (List Blobs), an XML document.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ObjectPage } from '../../../daemon/shared/object-source/object-source.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { XmlReader } from '../../format/xml/xml-reader.ts'

type ListedBlob = { name: string; isEncoded: boolean; length: string; etag: string; type: string }

const no_listing = 'the server does not answer as a store of blobs of Azure does'
/** More than the store sends at once. */
const max_blobs = 10_000
const root = 'EnumerationResults'
const fieldsByPath: Readonly<Record<string, Exclude<keyof ListedBlob, 'isEncoded'>>> = {
  [`${root}/Blobs/Blob/Name`]: 'name',
  [`${root}/Blobs/Blob/Properties/Content-Length`]: 'length',
  [`${root}/Blobs/Blob/Properties/Etag`]: 'etag',
  [`${root}/Blobs/Blob/Properties/ResourceType`]: 'type',
}

/** Throws `RowSourceError`. */
export function parseAzureListing(bytes: Uint8Array): ObjectPage {
  const blobs: ListedBlob[] = []
  const path: string[] = []
  let [text, next, isListing] = ['', '', false]
  const reader = new XmlReader('a listing', {
    open(name, attributes) {
      path.push(name)
      text = ''
      const at = path.join('/')
      if (at === `${root}/Blobs`) isListing = true
      if (at === `${root}/Blobs/Blob` && blobs.length === max_blobs) throw new RowSourceError(no_listing)
      if (at === `${root}/Blobs/Blob`) blobs.push({ name: '', isEncoded: false, length: '', etag: '', type: '' })
      const blob = blobs.at(-1)
      if (blob && fieldsByPath[at] === 'name') blob.isEncoded = attributes.Encoded === 'true'
    },
    text(piece) {
      text += piece
    },
    close() {
      const at = path.join('/')
      path.pop()
      const [blob, field] = [blobs.at(-1), fieldsByPath[at]]
      if (blob && field) blob[field] = text
      if (at === `${root}/NextMarker`) next = text
    },
  })
  try {
    reader.write(bytes)
    reader.end()
  } catch (error) {
    throw error instanceof DataFault ? new RowSourceError(no_listing) : error
  }
  if (!isListing) throw new RowSourceError(no_listing)
  // An account with folders lists these too.
  const objects = blobs.filter(({ type }) => type !== 'directory').map(readBlob)
  return { objects, ...(next !== '' && { next }) }
}

function readBlob({ name, isEncoded, length, etag }: ListedBlob) {
  const version = trimETag(etag)
  if (!/^\d{1,15}$/.test(length) || version === '') throw new RowSourceError(no_listing)
  return { key: isEncoded ? decodeName(name) : name, bytes: Number(length), version }
}

/** A listing has ETags without the quotation marks of a header. */
export function trimETag(text: string): string {
  return text.replace(/^"(.*)"$/, '$1')
}

/** A name with characters that XML does not have. */
function decodeName(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new RowSourceError(no_listing)
  }
}
