// Parses a page of a listing of S3 (ListObjectsV2), an XML document.
import { DataFault } from '../../../daemon/kernel/data/data-fault.ts'
import type { ObjectPage, StoredObject } from '../../../daemon/shared/object-source/object-source.ts'
import { RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import { XmlReader } from '../../format/xml/xml-reader.ts'

const no_listing = 'the server does not answer as a store of the protocol of S3 does'

/** More than any store sends at once. */
const max_objects = 10_000

/** Throws `RowSourceError`. */
export function parseS3Listing(bytes: Uint8Array): ObjectPage {
  const objects: Record<string, string>[] = []
  const listing: Record<string, string> = {}
  const path: string[] = []
  let text = ''
  const reader = new XmlReader('a listing', {
    open(name) {
      path.push(name)
      text = ''
      if (path.length !== 2 || name !== 'Contents') return
      if (objects.length === max_objects) throw new RowSourceError(no_listing)
      objects.push({})
    },
    text(piece) {
      text += piece
    },
    close(name) {
      const parent = path.slice(0, -1).join('/')
      path.pop()
      if (parent === 'ListBucketResult') listing[name] = text
      const object = objects.at(-1)
      if (parent === 'ListBucketResult/Contents' && object) object[name] = text
    },
  })
  try {
    reader.write(bytes)
    reader.end()
  } catch (error) {
    throw error instanceof DataFault ? new RowSourceError(no_listing) : error
  }
  const { IsTruncated, NextContinuationToken: next = '', EncodingType } = listing
  if (IsTruncated !== 'true' && IsTruncated !== 'false') throw new RowSourceError(no_listing)
  if (IsTruncated === 'true' && next === '') throw new RowSourceError(no_listing)
  return {
    objects: objects.map((each) => readObject(each, EncodingType === 'url')),
    ...(IsTruncated === 'true' && { next }),
  }
}

function readObject({ Key = '', Size = '', ETag = '' }: Record<string, string>, isEncoded: boolean): StoredObject {
  if (!/^\d{1,15}$/.test(Size) || ETag === '') throw new RowSourceError(no_listing)
  return { key: isEncoded ? decodeKey(Key) : Key, bytes: Number(Size), version: ETag }
}

/** As a form is encoded: a key may have characters that XML does not. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new RowSourceError(no_listing)
  }
}
