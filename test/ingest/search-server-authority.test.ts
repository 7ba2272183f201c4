// The certificate of a search server is one of the authorities of its connection.
import { readFileSync } from 'node:fs'
import { afterAll, expect, test } from 'vitest'
import { openRowSource } from '../../daemon/runtime/ingest/connection/open-source.ts'
import { startFileServer } from '../support/ingest/file-server.ts'

const server = await startFileServer()
server.files.set('/', { bytes: Buffer.from('{"version":{"number":"2.19.1"}}') })
afterAll(() => server.close())

async function probe(ca: string | undefined): Promise<string> {
  const config = { url: `https://localhost:${server.port}`, ...(ca === undefined ? {} : { ca }) }
  const settings = { data_folder: undefined, trusted_networks: ['127.0.0.1', '::1'], addonDir: '' }
  const source = await openRowSource({ tenant_id: 'acme', conn_type: 'elasticsearch', config }, settings, '')
  try {
    return await source.probe(new AbortController().signal)
  } finally {
    await source.close()
  }
}

test('the authority of the connection is trusted', async () => {
  expect(await probe(readFileSync(server.ca_file, 'utf8'))).toBe('a search server of version "2.19.1"')
})

test.each([
  ['another authority', readFileSync(server.other_ca_file, 'utf8')],
  ['none', undefined],
  ['a text without a certificate', '-----BEGIN CERTIFICATE-----\nx\n'],
])('with %s nothing is sent', async (_, ca) => {
  const before = server.requests.length
  await expect(probe(ca)).rejects.toThrow('the server has no certificate that the connection trusts')
  expect(server.requests).toHaveLength(before)
})
