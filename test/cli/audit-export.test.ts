// An audit export is whole only when it is exactly what the site signed: whoever carries it can change nothing unseen.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sqliteFile } from '../../adapters/store/sqlite/sqlite-file.ts'
import { roleDatabaseFile, roleDataFolder, siteFolder } from '../../daemon/boot/storage/site-folder.ts'
import { type AuditRecord, hashRecord } from '../../daemon/kernel/audit/audit-chain.ts'
import { canonicalDigest } from '../../daemon/kernel/encoding/canonical-json.ts'
import { createScratchFolder, runCommand, runJsonCommand, serveSite } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('audit-export')
const env = { PLATFORM_SITE: path.join(dir, 'alpha') }
const keys = path.join(dir, 'keys.json')
const file = path.join(dir, 'audit.jsonl')
let lines: string[]

beforeAll(async () => {
  await runJsonCommand(['init', '--site', env.PLATFORM_SITE, '--tenant', 'acme', '--profile', 'demo'])
  await runJsonCommand(['keys', 'generate', '--use', 'personal'], { env })
  const running = await serveSite(env.PLATFORM_SITE)
  for (let i = 0; i < 6; i++)
    await runJsonCommand(['consensus', 'create', '--lens', 'p', '--lens-version', '1', '--m', '2', '--n', '2'], { env })
  await running.stop()
  await runCommand(['keys', 'export', '--out', keys], { env })
  lines = await exportLines()
})
afterAll(remove)

const exportLines = async (...options: string[]) =>
  (await runCommand(['audit', 'export', ...options], { env })).stdout.trimEnd().split('\n')
const isRecord = (line: string) => 'writer' in JSON.parse(line) && !('type' in JSON.parse(line))
const parse = (line: string): AuditRecord => JSON.parse(line)
const isOf = (role: string) => (line: string) => isRecord(line) && parse(line).writer === `${role}@alpha`

async function verify(changed: readonly string[], ...options: string[]) {
  writeFileSync(file, changed.map((line) => `${line}\n`).join(''))
  const { exit, stdout } = await runCommand(['audit', 'verify', file, '--json', ...options])
  const { whole, faults, chains } = JSON.parse(stdout) as {
    whole: boolean
    faults: string[]
    chains: { writer: string; faults: string[] }[]
  }
  expect(exit).toBe(whole ? 0 : 5)
  return whole
    ? 'whole'
    : [...faults, ...chains.flatMap((chain) => chain.faults.map((each) => `${chain.writer}: ${each}`))]
}

/** Replaces the lines of the chain of role consensus. */
const changeChain = (change: (records: string[]) => string[]) => {
  const at = lines.findIndex(isOf('consensus'))
  const chain = lines.filter(isOf('consensus'))
  return lines.filter((line) => !isOf('consensus')(line)).toSpliced(at, 0, ...change(chain))
}

/** The chain with another event in this record, and every hash from there on computed anew. */
function rehash(chain: readonly string[], index: number): string[] {
  let prev = parse(chain[index] ?? '').prev
  return chain.map((line, at) => {
    if (at < index) return line
    const record = parse(line)
    const event = at === index && record.event ? { ...record.event, subject: 'mallory' } : record.event
    const event_digest = event ? canonicalDigest(event) : record.event_digest
    const hash = hashRecord(record.writer, record.seq, prev, event_digest)
    const next = { ...record, prev, event_digest, hash, ...(event ? { event } : {}) }
    prev = hash
    return JSON.stringify(next)
  })
}

test('it ends with a signed line, and is whole with the keys of the site', async () => {
  expect(lines.filter(isOf('consensus')).length).toBeGreaterThanOrEqual(6)
  expect(JSON.parse(lines.at(-1) ?? '').type).toBe('platform.audit-export')
  expect(await verify(lines, '--keys', keys)).toBe('whole')
  const { stdout } = await runCommand(['audit', 'verify', file, '--keys', keys])
  expect(stdout).toMatch(/exactly what the site signed/)
  expect(stdout).toMatch(/whole consensus@alpha: \d+ records \(1 to \d+\)/)
})

test('nothing is proven without keys, without the signed line, or by the keys of another site', async () => {
  expect(await verify(lines)).toEqual([expect.stringContaining('no keys of alpha are known')])
  expect(await verify(lines.slice(0, -1), '--keys', keys)).toEqual([expect.stringContaining('has no signed line')])
  await runJsonCommand(['init', '--site', path.join(dir, 'other')])
  const foreign = path.join(dir, 'foreign.json')
  await runCommand(['keys', 'export', '--site', path.join(dir, 'other'), '--out', foreign])
  expect(await verify(lines, '--keys', foreign)).toContainEqual(expect.stringContaining('unknown_key'))
})

test('a site verifies by the keys that it has pinned: its own export, and that of a peer, but no other', async () => {
  const [bravo, charlie] = [path.join(dir, 'pinning'), path.join(dir, 'unpinning')]
  const { keys: exported } = JSON.parse(readFileSync(keys, 'utf8'))
  const message = exported.find((key: { platform_use: string }) => key.platform_use === 'message')
  for (const site of [bravo, charlie]) await runJsonCommand(['init', '--site', site, '--profile', 'demo'])
  const words = ['peers', 'add', 'alpha', '--keys', keys, '--tenant', 'acme', '--ceiling', 'RESTRICTED']
  await runJsonCommand([...words, '--fingerprint', message.platform_fingerprint, '--site', bravo])
  expect(await verify(lines, '--site', env.PLATFORM_SITE)).toBe('whole')
  expect(await verify(lines, '--site', bravo)).toBe('whole')
  expect(await verify(lines, '--site', charlie)).toEqual([expect.stringContaining('no keys of alpha are known')])
})

test('a database that was deleted, or begun anew, is noticed by its signed checkpoints', async () => {
  const copy = path.join(dir, 'copied')
  // With its modes, without which the site does not start.
  execFileSync('cp', ['-a', env.PLATFORM_SITE, copy])
  const copied = { PLATFORM_SITE: copy }
  type Verdict = { whole: boolean; chains: { writer: string; checkpoints: number }[] }
  const countCheckpoints = ({ chains }: Verdict) =>
    chains.find(({ writer }) => writer === 'consensus@alpha')?.checkpoints ?? 0
  const judge = async (): Promise<Verdict> =>
    JSON.parse((await runCommand(['audit', 'verify', '--json'], { env: copied })).stdout)
  const running = await serveSite(copy)
  await expect.poll(async () => countCheckpoints(await judge())).toBeGreaterThan(0)
  await running.stop()
  const data = roleDataFolder(siteFolder(copy), 'consensus')
  for (const name of readdirSync(data)) rmSync(path.join(data, name), { recursive: true })
  const gone = { writer: 'consensus@alpha', records: 0, faults: [expect.stringContaining('the chain is gone')] }
  expect(await judge()).toMatchObject({ whole: false, chains: expect.arrayContaining([expect.objectContaining(gone)]) })
  expect(await runCommand(['audit', 'export'], { env: copied })).toMatchObject({
    ...{ exit: 5, stderr: expect.stringContaining('consensus@alpha: the chain is gone') },
  })
  await sqliteFile({ file: roleDatabaseFile(siteFolder(copy), 'consensus'), addonDir: dir }).close()
  expect((await judge()).whole).toBe(false)
})

describe('a chain that was', () => {
  const expectFault = async (changed: readonly string[], fault: RegExp) =>
    expect(await verify(changed, '--keys', keys)).toContainEqual(expect.stringMatching(fault))
  const count = () => lines.filter(isOf('consensus')).length

  test('cut at its end', async () => {
    await expectFault(
      changeChain((chain) => chain.slice(0, -2)),
      new RegExp(`consensus@alpha: record ${count() - 1} is missing: the chain was cut short`),
    )
  })

  test('cut at its start', async () => {
    await expectFault(
      changeChain((chain) => chain.slice(2)),
      /consensus@alpha: record 1 is missing/,
    )
  })

  test('cut in its middle', async () => {
    await expectFault(
      changeChain((chain) => chain.toSpliced(2, 1)),
      /consensus@alpha: record 4 is missing/,
    )
  })

  test('reordered, or repeated in part', async () => {
    const swap = ([a = '', b = '', ...rest]: string[]) => [b, a, ...rest]
    await expectFault(changeChain(swap), /consensus@alpha: record 1 is out of order/)
    await expectFault(
      changeChain((chain) => chain.toSpliced(1, 0, chain[1] ?? '')),
      /record 2 is out of order/,
    )
  })

  test('altered, with or without new hashes behind it', async () => {
    await expectFault(
      changeChain((chain) => chain.map((line) => line.replace('"outcome":"done"', '"outcome":"refused"'))),
      /consensus@alpha: record 1 is altered/,
    )
    await expectFault(
      changeChain((chain) => rehash(chain, 3)),
      /consensus@alpha: the chain was rewritten: the (signed head|checkpoint) at record \d+ does not match/,
    )
  })

  test('stripped of an event', async () => {
    const strip = (line: string) => JSON.stringify({ ...parse(line), event: undefined })
    await expectFault(
      changeChain((chain) => chain.map((line, at) => (at === 2 ? strip(line) : line))),
      /consensus@alpha: record 3 is altered: its event is not there/,
    )
  })

  test('continued, with right hashes', async () => {
    const forge = (line: string) => {
      const { writer, seq, hash: prev, event_digest, event } = parse(line)
      return JSON.stringify({
        writer,
        seq: seq + 1,
        prev,
        event_digest,
        hash: hashRecord(writer, seq + 1, prev, event_digest),
        event,
      })
    }
    await expectFault(
      changeChain((chain) => [...chain, forge(chain.at(-1) ?? '')]),
      new RegExp(`consensus@alpha: record ${count() + 1} was added`),
    )
  })

  test('left out, or emptied with all others', async () => {
    await expectFault(
      changeChain(() => []),
      /consensus@alpha: records 1 to \d+ are missing/,
    )
    expect(await verify([], '--keys', keys)).toContainEqual(expect.stringContaining('holds no record'))
    expect(await verify(lines.slice(-1), '--keys', keys)).toContainEqual(expect.stringContaining('holds no record'))
  })

  test('spliced from another writer or another export', async () => {
    const foreign = { ...parse(lines.find(isOf('consensus')) ?? ''), writer: 'consensus@bravo' }
    await expectFault([JSON.stringify(foreign), ...lines], /consensus@bravo: record 1 is altered/)
    await runJsonCommand(['keys', 'generate', '--use', 'personal'], { env })
    const later = await exportLines()
    expect(await verify(later, '--keys', keys)).toBe('whole')
    await expectFault([...later.slice(0, -1), lines.at(-1) ?? ''], /site@alpha: record \d+ was added/)
    await expectFault([...lines.slice(0, -1), later.at(-1) ?? ''], /site@alpha: record \d+ is missing/)
    await expectFault([...lines, later.find(isOf('site')) ?? ''], /something follows the signed line/)
  })
})

test('an export of a range holds exactly the records of that time, and those between them', async () => {
  const records = lines.filter(isOf('consensus')).map(parse)
  const since = records[2]?.event?.at ?? ''
  const range = await exportLines('--role', 'consensus', '--since', since)
  expect(await verify(range, '--keys', keys)).toBe('whole')
  const first = range.map(parse).find(({ seq }) => seq !== undefined)?.seq ?? 0
  expect(first).toBeGreaterThan(1)
  expect(await verify(range.toSpliced(range.findIndex(isRecord), 1), '--keys', keys)).toContainEqual(
    expect.stringMatching(new RegExp(`record ${first} is missing`)),
  )
})

test('a chain that contradicts what the site signed before is exported, and not signed', async () => {
  const { roleDatabaseFile, siteFolder } = await import('../../daemon/boot/storage/site-folder.ts')
  const { default: Database } = await import('better-sqlite3')
  const db = new Database(roleDatabaseFile(siteFolder(env.PLATFORM_SITE), 'consensus'))
  db.prepare(
    'UPDATE audit SET event = replace(event, \'"outcome":"done"\', \'"outcome":"refused"\') WHERE seq = 3',
  ).run()
  db.close()
  const { exit, stdout, stderr } = await runCommand(['audit', 'export'], { env })
  expect({ exit, stderr }).toMatchObject({
    exit: 5,
    stderr: expect.stringContaining('consensus@alpha: record 3 is altered'),
  })
  expect(stdout).not.toContain('platform.audit-export')
})

test('an earlier export of another site, or one that was changed, is refused', async () => {
  const other = { PLATFORM_SITE: path.join(dir, 'bravo') }
  await runJsonCommand(['init', '--site', other.PLATFORM_SITE, '--name', 'bravo'])
  for (let i = 0; i < 2; i++) await runJsonCommand(['keys', 'generate', '--use', 'personal'], { env: other })
  const kept = path.join(dir, 'kept.jsonl')
  const compare = async (text: string) => {
    writeFileSync(kept, text)
    const { exit, stderr } = await runCommand(['audit', 'verify', '--exported', kept], { env: other })
    return exit === 0 ? 'whole' : { exit, stderr }
  }
  const refused = (text: string) => ({ exit: 5, stderr: expect.stringContaining(text) })
  expect(await compare(`${lines.join('\n')}\n`)).toEqual(refused('@alpha, and this is the site bravo'))
  const { stdout: own } = await runCommand(['audit', 'export'], { env: other })
  expect(await compare(own)).toBe('whole')
  const [first = ''] = own.split('\n').filter((line) => line !== '' && isRecord(line))
  expect(await compare(own.replace(`${first}\n`, ''))).toEqual(refused('not as it was made'))
  const other_hash = JSON.stringify({ ...parse(first), hash: 'f'.repeat(64) })
  expect(await compare(own.replace(first, other_hash))).toEqual(refused('not as it was made'))
})

test('an earlier export that holds no record compares with nothing, and is refused', async () => {
  const empty = path.join(dir, 'empty.jsonl')
  writeFileSync(empty, '')
  expect(await runCommand(['audit', 'verify', '--exported', empty], { env })).toMatchObject({
    ...{ exit: 5, stderr: expect.stringContaining('holds no record') },
  })
  expect(readFileSync(empty, 'utf8')).toBe('')
})
