// Where a bucket of S3 is: in the name of the host, or in the path.
import { isIP } from 'node:net'
import { encodeKey } from '../http/object-client.ts'

export type S3Place = {
  readonly bucket: string
  readonly region: string
  /** Default: that of the region. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is in the path instead of the name of the host. */
  readonly path_style: boolean
}

/** `host`: with its port; `root`: path of the bucket. */
export function findS3Place({ bucket, region, endpoint, path_style }: S3Place) {
  const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const { protocol, host, hostname, pathname } = new URL(endpoint ?? `https://s3.${region}.${suffix}`)
  const base = pathname.replace(/\/$/, '')
  // No certificate for names covers a bucket with dots, and an address has no names below it.
  const isInPath = path_style || bucket.includes('.') || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  if (isInPath) return { origin: `${protocol}//${host}`, host, root: `${base}/${encodeKey(bucket)}` }
  return { origin: `${protocol}//${bucket}.${host}`, host: `${bucket}.${host}`, root: `${base}/` }
}
