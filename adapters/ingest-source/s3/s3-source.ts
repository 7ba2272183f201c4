// The objects of a bucket of S3, or of a store of the same protocol. Requests are signed by Signature Version 4.
import { isIP } from 'node:net'
import aws4 from 'aws4'
import type { ObjectSource } from '../../../daemon/shared/object-source/object-source.ts'
import type { AddressRule } from '../../platform/address-rule/address-rule.ts'
import { encodeKey, encodeText, ObjectClient, type ObjectRequest, rangeFrom } from '../http/object-client.ts'
import { parseS3Listing } from './s3-listing.ts'

export type S3Access = {
  readonly bucket: string
  readonly region: string
  /** Default: that of the region. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is in the path instead of the name of the host. */
  readonly path_style: boolean
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
  const { origin, host, root } = findPlace(access)
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

/** `root`: path of the bucket. */
function findPlace({ bucket, region, endpoint, path_style }: S3Access) {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const { protocol, host, hostname, pathname } = new URL(endpoint ?? `https://s3.${region}.${suffix}`)
  const base = pathname.replace(/\/$/, '')
  // No certificate for names covers a bucket with dots, and an address has no names below it.
  const isInPath = path_style || bucket.includes('.') || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  if (isInPath) return { origin: `${protocol}//${host}`, host, root: `${base}/${encodeKey(bucket)}` }
  return { origin: `${protocol}//${bucket}.${host}`, host: `${bucket}.${host}`, root: `${base}/` }
}

function encodeQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${encodeText(value)}`)
    .join('&')
}

function readHeaders(headers: Readonly<Record<string, unknown>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]))
}
