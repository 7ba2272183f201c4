// A courier's medium between two packaged sites: exported messages come in once, in spite of changes, repeats or cuts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { findExecutable } from '../support/command/run-executable.ts'
import { formatChannelFolder, listQuarantined } from '../support/site/courier.ts'
import { createPackagedPairTest } from '../support/site/packaged-pair-test.ts'
import { findChannel, openInvitedSession, type PackagedSitePair } from '../support/site/packaged-site-pair.ts'
import { waitUntil } from '../support/site/test-site.ts'

const test = createPackagedPairTest({ isStarted: false })

let isBravoUp = false
let medium: string
test.beforeAll(async ({ pair }) => {
  await pair.alpha.start()
})
test.beforeEach(({ pair }) => {
  medium = fs.mkdtempSync(path.join(pair.world.dir, 'medium-'))
})

const listReady = (pair: PackagedSitePair) =>
  fs.readdirSync(formatChannelFolder(pair.alpha, pair.bravo, 'out', 'ready'))
const listFresh = (pair: PackagedSitePair) => fs.readdirSync(formatChannelFolder(pair.bravo, pair.alpha, 'in', 'new'))
const importMedium = async (pair: PackagedSitePair, from = medium) => {
  const { exit, stdout, stderr } = await pair.bravo.run(['filedrop', 'import', from, '--json'])
  return {
    exit,
    stderr,
    ...(JSON.parse(stdout || '{}') as { messages: number; for_others: number; faults: ImportFault[] }),
  }
}
type ImportFault = { readonly file: string; readonly why: string }

/** So many invitations that wait for a courier, and then the medium that holds them; its only folder. */
async function exportInvitations(pair: PackagedSitePair, count: number): Promise<string> {
  if (count > 0) await waitForReady(pair, count)
  expect((await pair.alpha.runJson(['filedrop', 'export', medium, 'bravo'])).items).toMatchObject([{ left: [] }])
  expect(listReady(pair)).toEqual([])
  const [folder = '', ...more] = fs.readdirSync(medium)
  expect(more).toEqual([])
  return path.join(medium, folder)
}

async function waitForReady(pair: PackagedSitePair, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => openInvitedSession(pair.atAlpha, 0.94)))
  await waitUntil(() => listReady(pair).filter((name) => name.endsWith('.env.json')).length === count)
}

/** All that alpha has numbered has been taken in at bravo, each once. */
async function waitUntilApplied(pair: PackagedSitePair): Promise<void> {
  if (!isBravoUp) await pair.bravo.start()
  isBravoUp = true
  const { highest_seq } = await findChannel(pair.atAlpha, 'bravo', 'out')
  await waitUntil(async () => {
    const { highest_seq: reached, gaps, backlog } = await findChannel(pair.atBravo, 'alpha', 'in')
    return reached === highest_seq && gaps === 0 && backlog === 0
  })
  expect(listQuarantined(pair.toBravo)).toEqual([])
}

/** Starts the command, and kills it as soon as this holds; false when it had ended by then. */
async function killCommandWhen(
  pair: PackagedSitePair,
  words: readonly string[],
  holds: () => boolean,
): Promise<boolean> {
  const child = spawn(findExecutable(), words, { env: {}, cwd: pair.world.dir, stdio: 'ignore' })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  while (child.exitCode === null && !holds()) await new Promise(setImmediate)
  child.kill('SIGKILL')
  return (await ended)[1] === 'SIGKILL'
}

test('an import that is killed leaves no half message, and a repeat brings the rest', async ({ pair }) => {
  await exportInvitations(pair, 30)
  const words = ['filedrop', 'import', medium, '--site', pair.bravo.dir]
  await waitUntil(async () => {
    for (const name of listFresh(pair)) fs.unlinkSync(formatChannelFolder(pair.bravo, pair.alpha, 'in', 'new', name))
    return killCommandWhen(pair, words, () => listFresh(pair).some((name) => name.endsWith('.env.json')))
  })
  const there = listFresh(pair)
  const envelopes = there.filter((name) => name.endsWith('.env.json') && !name.startsWith('.'))
  for (const name of envelopes) expect(there).toContain(name.replace('.env.', '.body.'))
  expect(await importMedium(pair)).toMatchObject({ exit: 0, messages: 30, faults: [] })
  await waitUntilApplied(pair)
})

test('an export that is killed takes nothing from the site that the medium does not hold, and a repeat ends it', async ({
  pair,
}) => {
  const words = ['filedrop', 'export', medium, 'bravo', '--site', pair.alpha.dir]
  await waitUntil(async () => {
    const before = fs.readdirSync(medium).length
    await waitForReady(pair, 30)
    return killCommandWhen(pair, words, () => fs.readdirSync(medium).length > before)
  })
  await pair.alpha.runJson(['filedrop', 'export', medium, 'bravo'])
  expect(listReady(pair)).toEqual([])
  expect(fs.readdirSync(medium).filter((name) => name.startsWith('.'))).toEqual([])
  expect(await importMedium(pair)).toMatchObject({ exit: 0, faults: [] })
  await waitUntilApplied(pair)
})

test('a medium that is imported twice brings nothing new, and is not changed', async ({ pair }) => {
  const folder = await exportInvitations(pair, 3)
  const before = fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name)))
  expect(await importMedium(pair)).toMatchObject({ exit: 0, messages: 3 })
  await waitUntilApplied(pair)
  const { received, duplicates } = await findChannel(pair.atBravo, 'alpha', 'in')
  expect(await importMedium(pair)).toMatchObject({ exit: 0, messages: 3 })
  await waitUntil(async () => (await findChannel(pair.atBravo, 'alpha', 'in')).duplicates === duplicates + 3)
  expect(await findChannel(pair.atBravo, 'alpha', 'in')).toMatchObject({ received, quarantined: 0 })
  expect(fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name)))).toEqual(before)
})

test('a file that was altered or lost on the way stays out with its message, and the others come in', async ({
  pair,
}) => {
  const folder = await exportInvitations(pair, 3)
  const sound = `${medium}-sound`
  fs.cpSync(medium, sound, { recursive: true })
  const [first = '', second = ''] = fs.readdirSync(folder).filter((name) => name.endsWith('.body.json'))
  const text = fs.readFileSync(path.join(folder, first), 'utf8')
  fs.writeFileSync(path.join(folder, first), text.replace('RESTRICTED', 'UNRESTRICT'))
  fs.unlinkSync(path.join(folder, second))
  const { exit, messages, faults, stderr } = await importMedium(pair)
  expect({ exit, messages }).toEqual({ exit: 5, messages: 1 })
  expect(faults.map(({ file }) => path.basename(file)).sort()).toEqual([first, second].sort())
  for (const { file } of faults) expect(stderr).toContain(file)
  expect(await importMedium(pair, sound)).toMatchObject({ exit: 0, messages: 3 })
  await waitUntilApplied(pair)
})

test.for<[string, (manifest: { files: object[]; dst: string }) => object]>([
  ['names a file less', (manifest) => ({ ...manifest, files: manifest.files.slice(2) })],
  ['is for another site than its folder', (manifest) => ({ ...manifest, dst: 'charlie' })],
])('a manifest that was altered counts for nothing: it %s', async ([, change], { pair }) => {
  const folder = await exportInvitations(pair, 1)
  const file = path.join(folder, 'MANIFEST.json')
  const genuine = fs.readFileSync(file, 'utf8')
  const note = JSON.parse(genuine)
  const manifest = JSON.parse(Buffer.from(note.payload, 'base64url').toString())
  const payload = Buffer.from(JSON.stringify(change(manifest))).toString('base64url')
  fs.writeFileSync(file, JSON.stringify({ ...note, payload }))
  const { messages, faults, for_others } = await importMedium(pair)
  expect({ messages, reported: faults.length + for_others }).toEqual({ messages: 0, reported: 1 })
  fs.writeFileSync(file, genuine)
  expect(await importMedium(pair)).toMatchObject({ exit: 0, messages: 1 })
  await waitUntilApplied(pair)
})

test('reports a medium for another site, and imports nothing of it', async ({ pair }) => {
  await exportInvitations(pair, 1)
  const answer = await pair.alpha.runJson(['filedrop', 'import', medium])
  expect(answer).toMatchObject({ messages: 0, for_others: 1, faults: [] })
  expect(fs.readdirSync(formatChannelFolder(pair.alpha, pair.bravo, 'in', 'new'))).toEqual([])
  expect(await importMedium(pair)).toMatchObject({ exit: 0, messages: 1 })
  await waitUntilApplied(pair)
})

test('without a medium, or without the channel’s own folders, nothing moves', async ({ pair }) => {
  await waitForReady(pair, 1)
  const { alpha, bravo } = pair
  const absent = path.join(medium, 'not-mounted')
  for (const words of [
    ['export', absent],
    ['import', absent],
  ]) {
    const { exit, stderr } = await alpha.run(['filedrop', ...words])
    expect([exit, stderr]).toEqual([1, expect.stringContaining('mount the medium')])
  }
  const file = formatChannelFolder(alpha, bravo, 'CHANNEL.json')
  fs.renameSync(file, `${file}.away`)
  const { exit, stderr } = await alpha.run(['filedrop', 'export', medium, 'bravo'])
  expect([exit, stderr]).toEqual([3, expect.stringContaining('CHANNEL.json')])
  expect(fs.readdirSync(medium)).toEqual([])
  fs.renameSync(`${file}.away`, file)
  await exportInvitations(pair, 0)
  await importMedium(pair)
  await waitUntilApplied(pair)
})
