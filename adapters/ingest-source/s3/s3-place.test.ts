// Where a bucket is, by the documented ways to address it.
import { expect, test } from 'vitest'
import { findS3Place } from './s3-place.ts'

const usual = { bucket: 'acme-exports', region: 'eu-central-1', path_style: false }

test.each<[title: string, change: object, place: readonly [origin: string, root: string]]>([
  ['of AWS', {}, ['https://acme-exports.s3.eu-central-1.amazonaws.com', '/']],
  ['of AWS in China', { region: 'cn-north-1' }, ['https://acme-exports.s3.cn-north-1.amazonaws.com.cn', '/']],
  ['in the path', { path_style: true }, ['https://s3.eu-central-1.amazonaws.com', '/acme-exports']],
  // A certificate for *.s3... covers no name with a further dot.
  ['with a dot', { bucket: 'acme.exports' }, ['https://s3.eu-central-1.amazonaws.com', '/acme.exports']],
  ['of a store', { endpoint: 'https://minio.example:9000' }, ['https://acme-exports.minio.example:9000', '/']],
  ['of a store below a path', { endpoint: 'http://a.example/s3/' }, ['http://acme-exports.a.example', '/s3/']],
  ['of an address', { endpoint: 'https://10.0.0.1:9000' }, ['https://10.0.0.1:9000', '/acme-exports']],
  ['of an address of IPv6', { endpoint: 'https://[fd00::1]:9000' }, ['https://[fd00::1]:9000', '/acme-exports']],
])('a bucket %s', (_, change, [origin, root]) => {
  expect(findS3Place({ ...usual, ...change })).toEqual({ origin, host: new URL(origin).host, root })
})
