// No command prints a control sequence of an argument or of a file, whatever becomes of the command.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { commandCatalogue } from '../../cli/program/command-catalogue.ts'
import { runCommand } from '../support/command/run-command.ts'
import { forgedLine, hostileText as hostile, misleading } from '../support/text/hostile-text.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'hostile-text-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** An argument is within the folder, whatever a command takes it for. */
const argument = path.join(folder, hostile)

/** Files that name the text in each form that a command reads. */
const files = Object.entries({
  'profile.yaml': `${JSON.stringify(hostile)}: 1\nplatform:\n  ${JSON.stringify(hostile)}: ${JSON.stringify(hostile)}\n`,
  'raw.yaml': `${hostile}: [\n`,
  'document.json': JSON.stringify({ [hostile]: hostile, lens: hostile, version: hostile, keys: [{ kid: hostile }] }),
  'lines.jsonl': `${JSON.stringify({ id: hostile, [hostile]: hostile, hash: hostile, writer: hostile })}\n`,
  'table.csv': `"${hostile}",id,name\n"${hostile}","${hostile}","${hostile}"\n"x","${hostile}","y"\n`,
  'raw.txt': hostile,
}).map(([name, text]) => {
  const file = path.join(folder, name)
  writeFileSync(file, text)
  return file
})

/** Commands that go on until they are stopped, or show a screen: their arguments alone are refused here. */
const lasting = new Set(['serve', 'demo', 'admin'])

async function expectPlain(words: readonly string[]): Promise<void> {
  const { stdout, stderr } = await runCommand(words, { env: { PLATFORM_TOKEN: 'x' } })
  const printed = `${stdout}${stderr}`
  expect(printed.replaceAll('\n', ''), words.join(' ')).not.toMatch(misleading)
  expect(printed, words.join(' ')).not.toMatch(forgedLine)
}

test('an unknown command and an unknown option are printed without their control characters', async () => {
  await expectPlain([hostile])
  await expectPlain(['keys', hostile])
  await expectPlain([`--${hostile}`])
  expect((await runCommand([hostile])).stderr).toContain('\\u001b')
})

test.each(Object.keys(commandCatalogue))('platform %s prints no control character of an argument', async (name) => {
  const { definition } = await commandCatalogue[name as keyof typeof commandCatalogue]()
  const words = name.split(' ')
  const site = path.join(folder, 'no-site')
  mkdirSync(site, { recursive: true })
  const given = 'site' in (definition.options ?? {}) ? ['--site', site] : []
  const count = Object.keys(definition.positionals ?? {}).length
  await expectPlain([...words, ...Array.from({ length: count + 1 }, () => argument), ...given])
  await expectPlain([...words, `--${hostile}`])
  if (lasting.has(name)) return
  const places = Array.from({ length: count }, () => argument)
  await expectPlain([...words, ...places, ...given])
  for (const option of Object.keys(definition.options ?? {})) {
    await expectPlain([...words, ...places, ...given, `--${option.replaceAll('_', '-')}`, argument])
  }
})

test.each(Object.keys(commandCatalogue).filter((name) => !lasting.has(name)))(
  'platform %s prints no control character of a file',
  async (name) => {
    const { definition } = await commandCatalogue[name as keyof typeof commandCatalogue]()
    const count = Object.keys(definition.positionals ?? {}).length
    for (const file of files) {
      const given = 'site' in (definition.options ?? {}) ? ['--site', path.join(folder, 'no-site')] : []
      const out =
        'out' in (definition.options ?? {}) ? ['--out', path.join(folder, `${name.replaceAll(' ', '-')}.out`)] : []
      await expectPlain([...name.split(' '), ...Array.from({ length: count }, () => file), ...given, ...out])
    }
  },
)

test('a key id that holds a line end shows no further key to the person who compares fingerprints', async () => {
  const env = { PLATFORM_SITE: path.join(folder, 'alpha') }
  await runCommand(['init', '--site', env.PLATFORM_SITE])
  const { keys } = JSON.parse((await runCommand(['keys', 'export'], { env })).stdout)
  const kid = `k\n  message  Ed25519   ${'A'.repeat(43)}  k2`
  const file = path.join(folder, 'keys.json')
  writeFileSync(file, JSON.stringify({ keys: keys.map((key: object) => ({ ...key, kid })) }))
  const words = ['peers', 'add', 'bravo', '--keys', file, '--tenant', 'b', '--ceiling', 'RESTRICTED']
  const { exit, stderr } = await runCommand(words, { env })
  expect(exit).toBe(3)
  expect(stderr).toContain('k\\n  message')
  expect(stderr).not.toMatch(/^ {2}message {2}Ed25519 {3}A{43}/m)
})
