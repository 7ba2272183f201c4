// Fault points are in no script of a release, those of threads included, which the executable holds compressed.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { bundle } from './bundle.mjs'

/** The names of the scripts that can end their process at a fault point. */
async function listScriptsWithFaultPoints(hasFaultPoints: boolean): Promise<string[]> {
  const into = mkdtempSync(path.join(tmpdir(), 'bundle-'))
  onTestFinished(() => rmSync(into, { recursive: true }))
  await bundle({ root: path.resolve('.'), into, target: 'linux-x64', hasFaultPoints })
  const scripts = readdirSync(into).filter((name) => /\.(mjs|cjs\.zst)$/.test(name))
  return scripts.filter((name) => {
    const bytes = readFileSync(path.join(into, name))
    return (name.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes).includes('unknown fault point')
  })
}

test('a release has no fault points, and a build for tests has them in threads too', async () => {
  expect(await listScriptsWithFaultPoints(false)).toEqual([])
  expect(await listScriptsWithFaultPoints(true)).toContain('ingest-thread.cjs.zst')
})
