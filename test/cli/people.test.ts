// People and their own keys by hand: made on a medium of their own, enrolled by what was compared, let go for good.
import { copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { answered, platform, scratch } from '../support/command-line.ts'

const { dir, remove } = scratch('people')
const site = path.join(dir, 'alpha')
const at = { env: { PLATFORM_SITE: site } }
const on = (name: string) => path.join(dir, name)

beforeAll(async () => {
  await answered(['init', '--site', site, '--profile', 'demo'])
})
afterAll(remove)

/** On a machine without a site: nothing of one is named or found. */
async function made(name: string, ...more: string[]): Promise<{ file: string; fingerprint: string; kid: string }> {
  const words = ['keys', 'generate', '--use', 'personal', '--dir', on(name), ...more]
  const { fingerprint, kid } = await answered(words)
  const file = on(`${name}-${kid}.json`)
  expect((await platform(['keys', 'export', '--dir', on(name), '--out', file])).exit).toBe(0)
  return { file, fingerprint, kid }
}

const add = (subject: string, file: string, ...more: string[]) =>
  platform(['people', 'add', subject, file, ...more], at)
const people = async () => (await answered(['people', 'list'], at)).items as { subject: string; keys: Key[] }[]
type Key = { fingerprint: string; status: string }

test('a key in a folder of its own needs no site, and the private half stays in it', async () => {
  const { file, fingerprint, kid } = await made('medium')
  expect(statSync(on('medium')).mode & 0o777).toBe(0o700)
  expect(statSync(path.join(on('medium'), `${kid}.json`)).mode & 0o777).toBe(0o600)
  const { items } = await answered(['keys', 'list', '--dir', on('medium')])
  expect(items).toMatchObject([{ kid, fingerprint, use: 'personal' }])
  const { d } = JSON.parse(readFileSync(path.join(on('medium'), `${kid}.json`), 'utf8')).private_jwk
  expect(readFileSync(file, 'utf8')).not.toContain(d)
})

test('a folder and a site at once, or a folder that is not there, are told', async () => {
  expect((await platform(['keys', 'list', '--dir', on('medium'), '--site', site])).exit).toBe(2)
  for (const verb of ['list', 'export']) {
    expect(await platform(['keys', verb, '--dir', on('nowhere')])).toMatchObject({ exit: 1, stdout: '' })
  }
})

test('without a person or --fingerprint nobody is enrolled, and the fingerprint is shown', async () => {
  const { file, fingerprint } = await made('ann')
  const ended = await add('ann', file)
  expect(ended).toMatchObject({ exit: 3, stdout: '' })
  expect(ended.stderr).toContain(fingerprint)
  expect((await add('ann', file, '--fingerprint', 'A'.repeat(43))).exit).toBe(3)
  expect(await people()).toEqual([])
})

test('a confirmed person is enrolled, privately, whatever letters the subject has', async () => {
  for (const subject of ['ann', '../../Ann, O=Größe/é\u202e']) {
    const { file, fingerprint } = await made(`of-${subject.length}`)
    expect((await add(subject, file, '--fingerprint', fingerprint)).exit).toBe(0)
  }
  const folder = path.join(site, 'identity', 'people')
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(folder)).toHaveLength(2)
  for (const name of readdirSync(folder)) {
    expect(name).toMatch(/^[a-z0-9-]+-[0-9a-f]{16}\.json$/)
    expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600)
  }
  expect((await people()).map(({ subject }) => subject)).toEqual(['../../Ann, O=Größe/é\u202e', 'ann'])
  expect((await answered(['doctor'], at)).healthy).toBe(true)
})

test('one key is one person’s, and one person has one key', async () => {
  const { file, fingerprint } = await made('bob')
  expect((await add('ann', file, '--fingerprint', fingerprint)).exit).toBe(3)
  expect((await add('bob', file, '--fingerprint', fingerprint)).exit).toBe(0)
  const ended = await add('bob-too', file, '--fingerprint', fingerprint)
  expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('that of bob') })
  const second = await made('bob', '--algorithm', 'ES384')
  const both = await add('carol', second.file, '--fingerprint', `${fingerprint},${second.fingerprint}`)
  expect(both.exit).toBe(2)
})

test('who is let go is so for good: the key is nobody’s again, a new one is enrolled beside it', async () => {
  const { file, fingerprint } = await made('dan')
  expect((await add('dan', file, '--fingerprint', fingerprint)).exit).toBe(0)
  expect((await platform(['people', 'remove', 'dan'], at)).exit).toBe(3)
  expect(await answered(['people', 'remove', 'dan', '--yes'], at)).toEqual({ removed: 'dan' })
  expect((await platform(['people', 'remove', 'dan', '--yes'], at)).exit).toBe(1)
  for (const subject of ['dan', 'eve']) expect((await add(subject, file, '--fingerprint', fingerprint)).exit).toBe(3)
  const next = await made('dan-again')
  expect((await add('dan', next.file, '--fingerprint', next.fingerprint)).exit).toBe(0)
  const dan = (await people()).find(({ subject }) => subject === 'dan')
  expect(dan?.keys.map(({ fingerprint: each, status }) => [each, status])).toEqual([
    [fingerprint, 'revoked'],
    [next.fingerprint, 'active'],
  ])
})

test('a key of another use, a private one, and one that the site holds itself enrol nobody', async () => {
  const root = await made('root', '--use', 'root')
  expect((await add('eve', root.file, '--fingerprint', root.fingerprint)).exit).toBe(2)
  const { kid } = await made('eve')
  copyFileSync(path.join(on('eve'), `${kid}.json`), on('private.json'))
  expect(await add('eve', on('private.json'))).toMatchObject({ exit: 2, stdout: '' })
  const own = await answered(['keys', 'generate', '--use', 'personal'], at)
  await platform(['keys', 'export', '--use', 'personal', '--out', on('own.json')], at)
  const ended = await add('eve', on('own.json'), '--fingerprint', own.fingerprint)
  expect(ended).toMatchObject({ exit: 3, stderr: expect.stringContaining('the site’s own key folder') })
})

test('enrolments and removals are in the audit chain', async () => {
  const ended = await platform(['audit', 'export', '--role', 'site'], at)
  const events = ended.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).event)
  const of = (action: string) => events.filter((event) => event.action === action).map(({ target }) => target)
  expect(of('site.person.add')).toEqual(['ann', '../../Ann, O=Größe/é\u202e', 'bob', 'dan', 'dan'])
  expect(of('site.person.remove')).toEqual(['dan'])
})
