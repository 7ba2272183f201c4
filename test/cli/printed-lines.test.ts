// Every line end of a command's own is printed as one: no output over plain values has an escape in its place.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Param } from '../../cli/program/command.ts'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { type CommandOptions, runCommand, runJsonCommand } from '../support/command/run-command.ts'
import { listServiceCommands, typeCommand } from '../support/command/service-commands.ts'
import { startLyingService } from '../support/http/lying-service.ts'
import { createRootedSite, createRootKeyMedium, signOnMedium } from '../support/keys/root-key-ceremony.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'printed-lines-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => path.join(folder, name)
const write = (name: string, text: string) => {
  writeFileSync(at(name), text)
  return at(name)
}

/** An escape in the place of a line end; two backslashes are one that is meant, as in a pattern of a schema. */
const lineEscape = /(?<!\\)\\[nrt]|\\u001b/

/** Runs a command as a person does, and returns the lines that it printed. */
async function listLines(words: readonly string[], options?: CommandOptions): Promise<string[]> {
  const { stdout, stderr } = await runCommand(words, options)
  const printed = `${stdout}${stderr}`
  expect(printed, words.join(' ')).not.toMatch(lineEscape)
  return printed.split('\n')
}

async function expectDone(words: readonly string[], options?: CommandOptions): Promise<string> {
  const { exit, stdout, stderr } = await runCommand(words, options)
  expect(exit, `${words.join(' ')}\n${stderr}`).toBe(0)
  expect(`${stdout}${stderr}`, words.join(' ')).not.toMatch(lineEscape)
  return `${stdout}${stderr}`
}

describe('over a service', () => {
  let service: Awaited<ReturnType<typeof startLyingService>>
  beforeAll(async () => {
    service = await startLyingService('plain')
  })
  afterAll(() => service?.close())

  test('each command', async () => {
    const file = write('input.json', '{}')
    let many = 0
    for (const definition of await listServiceCommands()) {
      const lines = await listLines(typeCommand(definition, file, service.url), { env: { PLATFORM_TOKEN: 'x' } })
      if (lines.length > 3) many++
    }
    expect(many).toBeGreaterThan(15)
  })
})

/** Commands that go on until they are stopped, or show a screen. */
const lasting = new Set(['serve', 'demo', 'admin'])

test('each command with files that it does not accept', async () => {
  const noSite = at('no-site')
  mkdirSync(noSite)
  const files = [
    write('profile.yaml', 'plain: 1\nplatform:\n  other: 2\n'),
    write('broken.yaml', 'a: [\nb: {\n'),
    write('document.json', JSON.stringify({ other: 1, lens: 'x', keys: [{ kid: 'k' }], comparisons: [] })),
    write('lines.jsonl', '{"id":"x"}\n{"id":"y"}\n'),
    write('table.csv', 'id,name\nx,y\nx,y\n'),
  ]
  for (const [name, load] of Object.entries(commandCatalogue)) {
    if (lasting.has(name)) continue
    const { definition } = await load()
    const options: Readonly<Record<string, Param<unknown>>> = definition.options ?? {}
    const positionals = definition.positionals ?? {}
    const needed = Object.entries(options).flatMap(([option, { isRequired }]) => (isRequired ? [option] : []))
    const site = 'site' in options ? ['--site', noSite] : []
    for (const file of files) {
      const out = 'out' in options ? ['--out', at(`${name.replaceAll(' ', '-')}-${path.basename(file)}.out`)] : []
      const places = Object.keys(positionals).map(() => file)
      await listLines([...name.split(' '), ...places, ...site, ...out])
      if (needed.length === 0) continue
      const required = needed.flatMap((option) => [`--${option.replaceAll('_', '-')}`, file])
      await listLines([...name.split(' '), ...places, ...required, ...site, ...out])
    }
  }
}, 60_000)

test('each fault of a lens is on a line of its own', async () => {
  const lens = write('lens.yaml', 'lens: x\nversion: 1\nfields: 3\n')
  const lines = await listLines(['resolve', 'match', '--registry', at('r'), '--data', at('table.csv'), '--lens', lens])
  expect(lines.filter((line) => /^ {2}line \d+, \w+: /.test(line)).length).toBeGreaterThan(1)
  const model = write('model.json', JSON.stringify({ link_type: 'dedupe_only', comparisons: [] }))
  expect(await listLines(['resolve', 'lens', 'import', model, '--out', at('imported.yaml')])).not.toEqual([])
})

test('keys, key sets and people, as those who compare and sign them see them', async () => {
  const media = await Promise.all([
    createRootKeyMedium(folder, 'medium', 'Ed25519'),
    createRootKeyMedium(folder, 'other', 'Ed25519'),
  ])
  const site = await createRootedSite(folder, 'alpha', media)
  const env = { env: { PLATFORM_SITE: site.dir } }
  const [message] = await site.keys('message')
  const draft = at('draft.json')
  expect(await expectDone(['keys', 'set', 'show'], env)).toMatch(/\n\nKID /)
  expect(await expectDone(['keys', 'rotate', message.kid], env)).toMatch(/ replaces .*\nfingerprint /)
  expect(await expectDone(['keys', 'set', 'draft', '--retire', message.kid, '--out', draft], env)).toMatch(/\nCHANGE /)
  const [first, second] = media
  const sign = ['keys', 'set', 'sign', draft, '--dir', first?.dir ?? '', '--yes']
  expect(await expectDone(sign)).toMatch(/must sign\nCHANGE .*\n/)
  if (second) await signOnMedium(second, draft)
  expect(await expectDone(['keys', 'set', 'publish', draft, '--yes'], env)).toMatch(/must sign\nCHANGE .*\n/)
  const personal = ['keys', 'generate', '--use', 'personal', '--dir', at('ann')]
  const { kid, fingerprint } = await runJsonCommand(personal)
  const exported = at('ann.json')
  await expectDone(['keys', 'export', '--dir', at('ann'), '--out', exported])
  const add = ['people', 'add', 'ann', exported]
  expect(await listLines(add, env)).toContainEqual(expect.stringContaining(kid))
  expect(await expectDone([...add, '--fingerprint', fingerprint], env)).toMatch(/\n\nKID /)
  const before = await runJsonCommand(['peers', 'list'], env)
  expect(before.items).toEqual([])
  for (const words of [
    ...['keys list', 'keys export', 'keys ca init', 'keys ca show', 'keys cert show', 'people list', 'peers list'],
    ...['people remove ann --yes', 'profile validate', 'profile explain', 'store status', 'store check'],
    ...['filedrop quarantine list', 'audit list', 'audit verify', 'token mint --subject ann', 'status', 'doctor'],
  ])
    await listLines(words.split(' '), env)
  expect(readdirSync(at('ann'))).toHaveLength(1)
  expect(readFileSync(exported, 'utf8')).toContain(kid)
}, 60_000)
