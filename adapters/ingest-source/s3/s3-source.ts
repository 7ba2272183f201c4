// The objects of a bucket of S3, or of a store of the same protocol. Requests are signed by Signature Version 4.
import aws4 from 'aws4'
import type { ObjectSource } from '../../../daemon/shared/object-source/object-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { encodeKey, encodeText, ObjectClient, type ObjectRequest, rangeFrom } from '../http/object-client.ts'
import { parseS3Listing } from './s3-listing.ts'
import { findS3Place, type S3Place } from './s3-place.ts'

export type S3Access = S3Place & {
  /** Absent: requests are anonymous. */
  readonly credentials?: S3Credentials | undefined
  readonly ca?: string | undefined
  readonly rule: AddressRule
}

export type S3Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

const page_objects = 1_000
const absent = { code: 'NoSuchBucket', message: 'the server has no such bucket' }

export function s3Source(access: S3Access): ObjectSource {
  const { origin, host, root } = findS3Place(access)
  const client = new ObjectClient({ origin, ca: access.ca, rule: access.rule })
  const signed = (path: string, headers: Readonly<Record<string, string>> = {}): ObjectRequest => {
    const { region, credentials } = access
    if (!credentials) return { path, headers }
    const request = aws4.sign(
      { ...{ host, path, service: 's3', region, method: 'GET' }, headers: { ...headers } },
      credentials,
    )
    return { path: request.path ?? path, headers: readHeaders(request.headers) }
  }
  const list = async (prefix: string, from: string | undefined, count: number, signal: AbortSignal) => {
    const query = { 'list-type': '2', 'encoding-type': 'url', 'max-keys': String(count), prefix }
    const path = `${root}?${encodeQuery({ ...query, ...(from !== undefined && { 'continuation-token': from }) })}`
    return parseS3Listing(await client.readAnswer(signed(path), absent, signal))
  }
  return {
    async probe(prefix, signal) {
      await list(prefix, undefined, 1, signal)
      return 'a bucket whose objects can be listed'
    },
    listPage: (prefix, from, signal) => list(prefix, from, page_objects, signal),
    readObject(object, from, signal) {
      const path = `${root}${root.endsWith('/') ? '' : '/'}${encodeKey(object.key)}`
      const request = signed(path, { 'if-match': object.version, ...rangeFrom(from) })
      return client.readObject(request, object, from, (response) => response.header('etag'), signal)
    },
    close: () => client.close(),
  }
}

function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeText(value)}`)
    .join('&')
}

function readHeaders(headers: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}
