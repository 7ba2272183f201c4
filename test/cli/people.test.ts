// People and their own keys by hand: made on a medium of their own, enrolled by what was compared, let go for good.
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('people')
const site = path.join(dir, 'alpha')
const at = { env: { PLATFORM_SITE: site } }
const formatPath = (name: string) => path.join(dir, name)

beforeAll(async () => {
  await runJsonCommand(['init', '--site', site, '--profile', 'demo'])
})
afterAll(remove)

/** On a machine without a site: nothing of one is named or found. */
async function createKey(name: string, ...more: string[]): Promise<{ file: string; fingerprint: string; kid: string }> {
  const words = ['keys', 'generate', '--use', 'personal', '--dir', formatPath(name), ...more]
  const { fingerprint, kid } = await runJsonCommand(words)
  const file = formatPath(`${name}-${kid}.json`)
  expect((await runCommand(['keys', 'export', '--dir', formatPath(name), '--out', file])).exit).toBe(0)
  return { file, fingerprint, kid }
}

const addPerson = (subject: string, file: string, ...more: string[]) =>
  runCommand(['people', 'add', subject, file, ...more], at)
const listPeople = async () =>
  (await runJsonCommand(['people', 'list'], at)).items as { subject: string; keys: EnrolledKey[] }[]
type EnrolledKey = { fingerprint: string; status: string }

test('a key in a folder of its own needs no site, and the private half stays in it', async () => {
  const { file, fingerprint, kid } = await createKey('medium')
  expect(statSync(formatPath('medium')).mode & 0o777).toBe(0o700)
  expect(statSync(path.join(formatPath('medium'), `${kid}.json`)).mode & 0o777).toBe(0o600)
  const { items } = await runJsonCommand(['keys', 'list', '--dir', formatPath('medium')])
  expect(items).toMatchObject([{ kid, fingerprint, use: 'personal' }])
  const { d } = JSON.parse(readFileSync(path.join(formatPath('medium'), `${kid}.json`), 'utf8')).private_jwk
  expect(readFileSync(file, 'utf8')).not.toContain(d)
})

test('reports a folder and a site at once, and a missing folder', async () => {
  expect((await runCommand(['keys', 'list', '--dir', formatPath('medium'), '--site', site])).exit).toBe(2)
  for (const verb of ['list', 'export']) {
    expect(await runCommand(['keys', verb, '--dir', formatPath('nowhere')])).toMatchObject({ exit: 1, stdout: '' })
  }
})

test('without a person or --fingerprint nobody is enrolled, and the fingerprint is shown', async () => {
  const { file, fingerprint } = await createKey('ann')
  const ended = await addPerson('ann', file)
  expect(ended).toMatchObject({ exit: 3, stdout: '' })
  expect(ended.stderr).toContain(fingerprint)
  expect((await addPerson('ann', file, '--fingerprint', 'A'.repeat(43))).exit).toBe(3)
  expect(await listPeople()).toEqual([])
})

test('enrols a confirmed person, privately, with any letters in the subject', async () => {
  for (const subject of ['ann', '../../Ann, O=Größe/é\u202e']) {
    const { file, fingerprint } = await createKey(`of-${subject.length}`)
    expect((await addPerson(subject, file, '--fingerprint', fingerprint)).exit).toBe(0)
  }
  const folder = path.join(site, 'identity', 'people')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder)).toHaveLength(2)
  for (const name of readdirSync(folder)) {
    expect(name).toMatch(/^[a-z0-9-]+-[0-9a-f]{16}\.json$/)
    expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600)
  }
  expect((await listPeople()).map(({ subject }) => subject)).toEqual(['../../Ann, O=Größe/é\u202e', 'ann'])
  expect((await runJsonCommand(['doctor'], at)).healthy).toBe(true)
})

test('one key is one person’s, and one person has one key', async () => {
  const { file, fingerprint } = await createKey('bob')
  expect((await addPerson('ann', file, '--fingerprint', fingerprint)).exit).toBe(3)
  expect((await addPerson('bob', file, '--fingerprint', fingerprint)).exit).toBe(0)
  const ended = await addPerson('bob-too', file, '--fingerprint', fingerprint)
  expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('that of bob') })
  const second = await createKey('bob', '--algorithm', 'ES384')
  const both = await addPerson('carol', second.file, '--fingerprint', `${fingerprint},${second.fingerprint}`)
  expect(both.exit).toBe(2)
})

test('removes a person for good: the key belongs to nobody again, and a new one is enrolled beside it', async () => {
  const { file, fingerprint } = await createKey('dan')
  expect((await addPerson('dan', file, '--fingerprint', fingerprint)).exit).toBe(0)
  expect((await runCommand(['people', 'remove', 'dan'], at)).exit).toBe(3)
  expect(await runJsonCommand(['people', 'remove', 'dan', '--yes'], at)).toEqual({ removed: 'dan' })
  expect((await runCommand(['people', 'remove', 'dan', '--yes'], at)).exit).toBe(1)
  for (const subject of ['dan', 'eve'])
    expect((await addPerson(subject, file, '--fingerprint', fingerprint)).exit).toBe(3)
  const next = await createKey('dan-again')
  expect((await addPerson('dan', next.file, '--fingerprint', next.fingerprint)).exit).toBe(0)
  const dan = (await listPeople()).find(({ subject }) => subject === 'dan')
  expect(dan?.keys.map(({ fingerprint: each, status }) => [each, status])).toEqual([
    [fingerprint, 'revoked'],
    [next.fingerprint, 'active'],
  ])
})

test('a key of another use, a private one, and one that the site holds itself enrol nobody', async () => {
  const root = await createKey('root', '--use', 'root')
  expect((await addPerson('eve', root.file, '--fingerprint', root.fingerprint)).exit).toBe(2)
  const { kid } = await createKey('eve')
  copyFileSync(path.join(formatPath('eve'), `${kid}.json`), formatPath('private.json'))
  expect(await addPerson('eve', formatPath('private.json'))).toMatchObject({ exit: 2, stdout: '' })
  const own = await runJsonCommand(['keys', 'generate', '--use', 'personal'], at)
  await runCommand(['keys', 'export', '--use', 'personal', '--out', formatPath('own.json')], at)
  const ended = await addPerson('eve', formatPath('own.json'), '--fingerprint', own.fingerprint)
  expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('the site’s own key folder') })
})

test('enrolments and removals are in the audit chain', async () => {
  const ended = await runCommand(['audit', 'export', '--role', 'site'], at)
  const events = ended.stdout
    .trim()
    .split('\n')
    .flatMap((line) => JSON.parse(line).event ?? [])
  const of = (action: string) => events.filter((event) => event.action === action).map(({ target }) => target)
  expect(of('site.person.add')).toEqual(['ann', '../../Ann, O=Größe/é\u202e', 'bob', 'dan', 'dan'])
  expect(of('site.person.remove')).toEqual(['dan'])
})
