// The demo as a newcomer runs it, and everything that it leaves behind, verified once more from the files alone.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../support/command/run-command.ts'
import { runExecutable } from '../support/command/run-executable.ts'
import { readSecrets } from '../support/keys/read-secrets.ts'
import type { EnclosedRun } from '../support/network/enclosure.ts'
import { bareEnvironment, runDemo, testEgress } from '../support/network/run-demo.ts'

let base: string
let dir: string
let keptRun: EnclosedRun
let report: Json
let temp: string

beforeAll(async () => {
  base = fs.mkdtempSync(path.join(tmpdir(), 'demo-'))
  dir = path.join(base, 'D')
  temp = path.join(base, 'tmp')
  fs.mkdirSync(temp)
  keptRun = await runDemo([], dir, base, temp)
  report = JSON.parse(keptRun.stdout)
})
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

function listCarriedFiles(): string[] {
  const roads = ['alpha-to-bravo', 'bravo-to-alpha'].map((road) => path.join(dir, 'carried', road))
  return roads.flatMap((road) => fs.readdirSync(road).map((name) => path.join(road, name)))
}

testEgress(() => keptRun)

test('ends with one document: who is who, two doubts that both ratified, and a conflict that explains itself', () => {
  expect(Object.keys(report).sort()).toEqual(['dissents', 'filedrop', 'resolution', 'seconds', 'sessions'])
  const fields = ['decision', 'evidence_block', 'id', 'score', 'state']
  expect(report.sessions.map((session: Json) => Object.keys(session).sort())).toEqual([fields, fields, fields])
  const [match, other, clashed] = report.sessions
  expect([match, other]).toMatchObject([
    { state: 'RATIFIED', decision: 'match' },
    { state: 'RATIFIED', decision: 'non_match' },
  ])
  for (const { evidence_block } of [match, other]) expect(evidence_block).toMatch(/^[0-9a-f]{64}$/)
  expect(clashed).toMatchObject({ state: 'IN_CONFLICT', decision: null, evidence_block: null })
  expect(report.dissents).toEqual([expect.objectContaining({ session_id: clashed.id, status: 'open' })])
  expect(report.dissents[0].explanation).toMatch(/alice.*bravo|bravo.*alice/s)
  expect(report.seconds).toBeGreaterThan(0)
})

test('finds the people whom both sites know, with what was decided about the doubts', async () => {
  expect(report.resolution).toMatchObject({ records: 317, entities: path.join(dir, 'entities.csv') })
  const lines = fs.readFileSync(path.join(dir, 'entities.csv'), 'utf8').trimEnd().split('\n')
  expect(lines[0]).toBe('entity,site,record')
  const entityOf = new Map(lines.slice(1).map((line) => [line.slice(line.indexOf(',') + 1), line.split(',')[0]]))
  expect(new Set(entityOf.values()).size).toBe(report.resolution.people)
  expect(entityOf.get('alpha,A048')).toBe(entityOf.get('bravo,B055'))
  expect(entityOf.get('bravo,B061')).not.toBe(entityOf.get('alpha,A048'))
  const truth = fs.readFileSync('samples/people/truth.csv', 'utf8').trimEnd().split('\n').slice(1)
  const personOf = new Map(truth.map((line) => [line.slice(0, line.lastIndexOf(',')), line.split(',')[2]]))
  const pairs = [...entityOf.keys()].flatMap((one) =>
    [...entityOf.keys()]
      .filter((other) => one < other && entityOf.get(one) === entityOf.get(other))
      .map((other) => [one, other]),
  )
  const right = pairs.filter(([one = '', other = '']) => personOf.get(one) === personOf.get(other))
  expect(right.length / pairs.length).toBeGreaterThan(0.98)
  expect(right.length).toBeGreaterThanOrEqual(105)
})

test('counts what was carried, on both sides alike', () => {
  const { alpha, bravo } = report.filedrop
  const counts = ['duplicates', 'quarantined', 'received', 'sent']
  expect([Object.keys(alpha).sort(), Object.keys(bravo).sort()]).toEqual([counts, counts])
  expect([alpha.received, bravo.received]).toEqual([bravo.sent, alpha.sent])
  for (const site of [alpha, bravo]) expect(site).toMatchObject({ duplicates: 0, quarantined: 0 })
  const envelopes = listCarriedFiles().filter((file) => file.endsWith('.env.json'))
  expect(envelopes).toHaveLength(alpha.sent + bravo.sent)
  expect(listCarriedFiles()).toHaveLength(2 * envelopes.length)
})

test('the evidence at both sites verifies from its file and the public keys', async () => {
  const blocks = report.sessions.slice(0, 2).map((session: Json) => session.evidence_block)
  for (const [site, block_id] of ['alpha', 'bravo'].flatMap((name) => blocks.map((block: string) => [name, block]))) {
    const words = ['evidence', 'verify', path.join(dir, `evidence-${block_id.slice(0, 8)}-at-${site}.json`)]
    const { exit, stdout } = await runExecutable([...words, '--keys', path.join(dir, 'alpha.keys.json'), '--json'])
    expect({ exit, ...JSON.parse(stdout) }).toMatchObject({
      exit: 0,
      valid: true,
      keys: 'given',
      site: 'alpha',
      block_id,
    })
  }
})

test('every carried envelope verifies with its sender’s public keys, and with nobody else’s', async () => {
  for (const file of listCarriedFiles().filter((each) => each.endsWith('.env.json'))) {
    const [sender, other] = file.includes('alpha-to-bravo') ? ['alpha', 'bravo'] : ['bravo', 'alpha']
    const verify = (keys: string) =>
      runExecutable(['filedrop', 'verify', file, '--keys', path.join(dir, `${keys}.keys.json`)])
    expect(await verify(sender), file).toMatchObject({ exit: 0 })
    expect(await verify(other), file).toMatchObject({ exit: 5 })
  }
})

test.each(['alpha', 'bravo'])('the records of %s are whole and its databases sound', async (name) => {
  const site = path.join(dir, name)
  const audit = await runExecutable(['audit', 'verify', '--site', site, '--json'])
  const chains = JSON.parse(audit.stdout)
    .chains.map(({ writer }: Json) => writer)
    .sort()
  expect({ exit: audit.exit, chains }).toEqual({
    exit: 0,
    chains: ['consensus', 'resolution', 'site'].map((role) => `${role}@${name}`),
  })
  expect(await runExecutable(['store', 'check', '--site', site])).toMatchObject({ exit: 0 })
})

test('a second demo into the same folder is refused, and changes nothing there', async () => {
  const before = fs.readdirSync(dir).sort()
  const again = await runExecutable(['demo', '--dir', dir, '--keep', '--json'], {
    env: bareEnvironment(temp),
    cwd: base,
  })
  expect(again).toMatchObject({ exit: 3, stdout: '' })
  expect(again.stderr).toContain('is not empty')
  expect(fs.readdirSync(dir).sort()).toEqual(before)
})

test('nothing that it left is anybody else’s to read', () => {
  const all = fs.readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => path.join(dir, name))
  const open = [dir, ...all].filter((file) => (fs.lstatSync(file).mode & 0o077) !== 0)
  expect(open).toEqual([])
})

test('no secret is in the logs, nor in what it printed', () => {
  const logs = ['alpha', 'bravo'].map((name) => fs.readFileSync(path.join(dir, name, 'daemon.log'), 'utf8'))
  const texts = [...logs, keptRun.stdout, keptRun.stderr]
  expect(logs.every((log) => log.includes('platform.ready'))).toBe(true)
  const secrets = ['alpha', 'bravo'].flatMap((name) => readSecrets(path.join(dir, name, 'keys')))
  expect(secrets.length).toBeGreaterThanOrEqual(8)
  for (const text of texts) {
    expect(text).not.toMatch(/eyJ[\w-]{8,}\.|Bearer /)
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
  }
})

test('without --keep it tells the story and leaves nothing', async () => {
  const { exit, stdout, stderr } = await runExecutable(['demo'], { env: bareEnvironment(temp), cwd: base })
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  expect(stdout).toMatch(/RATIFIED at alpha, RATIFIED at bravo: match/)
  expect(stdout).toMatch(/IN_CONFLICT at alpha, IN_CONFLICT at bravo/)
  expect(fs.readdirSync(temp)).toEqual([])
})
