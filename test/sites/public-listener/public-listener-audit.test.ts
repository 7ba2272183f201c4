// The audit chain of a proxy that runs alone: nobody signs its head, so only an export stored elsewhere reveals a rollback.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type PackagedProxy, sendProxyRequest, waitForRecords } from '../../support/proxy/packaged-proxy.ts'
import { createTestProxy } from '../../support/proxy/test-proxy.ts'

type AuditChainReport = { writer: string; records: number; checkpoints: number; faults: string[] }

/** The exit code, and the report on the proxy's own chain: commands that mint tokens write one as well. */
function verifyChain({ site }: PackagedProxy, ...words: string[]): Partial<AuditChainReport> & { exit: number | null } {
  const { exit, stdout } = site.run(['audit', 'verify', '--json', ...words])
  const { chains } = JSON.parse(stdout) as { chains: AuditChainReport[] }
  return { exit, ...chains.find(({ writer }) => writer.startsWith('proxy@')) }
}

/** One request after the other, each in the store before the next, so that each is a segment; then an orderly end. */
async function requestPaths(proxy: PackagedProxy, paths: readonly string[], before: number): Promise<void> {
  const served = await proxy.serve()
  for (const [at, path] of paths.entries()) {
    await sendProxyRequest(served, path)
    await waitForRecords(proxy, before + at + 1)
  }
  await served.stop()
}

test('a chain that was rolled back or rewritten verifies by itself, and not against an export', async () => {
  const proxy = await createTestProxy(['GET /api/v1/report'])
  const [data, old] = [join(proxy.site.dir, 'data', 'proxy'), join(proxy.site.dir, '..', 'old')]
  const file = join(proxy.site.dir, '..', 'kept.jsonl')
  await requestPaths(proxy, ['/public-api/api/v1/report'], 0)
  cpSync(data, old, { recursive: true, preserveTimestamps: true })
  await requestPaths(proxy, ['/public-api/secret'], 1)
  writeFileSync(file, proxy.site.run(['audit', 'export']).stdout)
  expect(verifyChain(proxy, '--exported', file)).toMatchObject({ exit: 0, checkpoints: 0, faults: [] })

  rmSync(data, { recursive: true })
  cpSync(old, data, { recursive: true, preserveTimestamps: true })
  expect(verifyChain(proxy)).toMatchObject({ exit: 0, faults: [] })
  const beyond = [expect.stringMatching(/cut short: the export at record \d+ is beyond/)]
  expect(verifyChain(proxy, '--exported', file)).toMatchObject({ exit: 5, faults: beyond })

  // Past what the export has seen.
  await requestPaths(proxy, ['/public-api/other', '/public-api/another'], 1)
  expect(verifyChain(proxy)).toMatchObject({ exit: 0, faults: [] })
  const anew = [expect.stringMatching(/rewritten: the export at/)]
  expect(verifyChain(proxy, '--exported', file)).toMatchObject({ exit: 5, faults: anew })
})

test('reports an invalid export, and two files at once', async () => {
  const proxy = await createTestProxy([])
  const file = join(proxy.site.dir, '..', 'kept.jsonl')
  writeFileSync(file, '{"no":"record"}\n')
  expect(proxy.site.run(['audit', 'verify', '--exported', file])).toMatchObject({
    ...{ exit: 5, stderr: expect.stringContaining('line 1 is not an audit record') },
  })
  expect(proxy.site.run(['audit', 'verify', file, '--exported', file]).exit).toBe(2)
})
