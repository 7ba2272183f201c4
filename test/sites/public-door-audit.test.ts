// The audit chain of a door that runs alone: nobody signs its head, so an export that is kept elsewhere must show what was undone.
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import type { Served } from '../support/packaged-site.ts'
import { ask, type Door, publicDoor, recorded } from '../support/public-door.ts'

let door: Door
let served: Served | undefined
afterEach(async () => {
  await served?.stop()
  await door?.close()
  served = undefined
})

type Chain = { writer: string; records: number; checkpoints: number; faults: string[] }

/** The exit code, and what is said of the door's own chain: commands that mint tokens write one as well. */
function verified(...words: string[]): Partial<Chain> & { status: number | null } {
  const { status, stdout } = door.site.run(['audit', 'verify', '--json', ...words])
  const { chains } = JSON.parse(stdout) as { chains: Chain[] }
  return { status, ...chains.find(({ writer }) => writer.startsWith('proxy@')) }
}

/** One request after the other, each in the store before the next, so that each is a segment; then an orderly end. */
async function visited(paths: readonly string[], before: number): Promise<void> {
  served = await door.serve()
  for (const [at, path] of paths.entries()) {
    await ask(served, path)
    await recorded(door, before + at + 1)
  }
  await served.stop()
  served = undefined
}

test('what was put back or written anew is whole by itself, and not for who kept an export', async () => {
  door = await publicDoor(['GET /api/v1/report'])
  const [data, old] = [join(door.site.dir, 'data', 'proxy'), join(door.site.dir, '..', 'old')]
  const file = join(door.site.dir, '..', 'kept.jsonl')
  await visited(['/public-api/api/v1/report'], 0)
  cpSync(data, old, { recursive: true, preserveTimestamps: true })
  await visited(['/public-api/secret'], 1)
  writeFileSync(file, door.site.run(['audit', 'export']).stdout)
  expect(verified('--exported', file)).toMatchObject({ status: 0, checkpoints: 0, faults: [] })

  rmSync(data, { recursive: true })
  cpSync(old, data, { recursive: true, preserveTimestamps: true })
  expect(verified()).toMatchObject({ status: 0, faults: [] })
  const beyond = [expect.stringMatching(/cut short: the export at record \d+ lies beyond/)]
  expect(verified('--exported', file)).toMatchObject({ status: 5, faults: beyond })

  // Past what the export has seen.
  await visited(['/public-api/other', '/public-api/another'], 1)
  expect(verified()).toMatchObject({ status: 0, faults: [] })
  const anew = [expect.stringMatching(/rewritten: the export at/)]
  expect(verified('--exported', file)).toMatchObject({ status: 5, faults: anew })
})

test('what is no export is said, and so are two files at once', async () => {
  door = await publicDoor([])
  const file = join(door.site.dir, '..', 'kept.jsonl')
  writeFileSync(file, '{"no":"record"}\n')
  expect(door.site.run(['audit', 'verify', '--exported', file])).toMatchObject({
    ...{ status: 5, stderr: expect.stringContaining('line 1 is no audit record') },
  })
  expect(door.site.run(['audit', 'verify', file, '--exported', file]).status).toBe(2)
})
