// A service whose every text is hostile: no command that reads it prints one of its control characters, or a line that it forged.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { everyOperation } from '../../daemon/every-role.ts'
import { runCommand } from '../support/command/run-command.ts'
import { listServiceCommands, typeCommand } from '../support/command/service-commands.ts'
import { lieOf, startLyingService } from '../support/http/lying-service.ts'
import { forged, forgedLine, hostileText, misleading } from '../support/text/hostile-text.ts'

/** Half a pair of surrogates is no JSON, which a client refuses. */
const text = hostileText.replaceAll('\ud800', '')

const folder = mkdtempSync(path.join(tmpdir(), 'hostile-service-'))
const file = path.join(folder, 'input.json')
let service: Awaited<ReturnType<typeof startLyingService>>
beforeAll(async () => {
  writeFileSync(file, '{}')
  service = await startLyingService(text)
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await service?.close()
})

const commands = await listServiceCommands()

test('the service lies in nearly every operation that answers JSON', () => {
  const json = everyOperation.filter(({ operation }) => !operation.streams && operation.status !== 204)
  const believed = json.filter((each) => each.operation.output.safeParse(lieOf(each, text)).success)
  expect(believed.length).toBeGreaterThan(json.length * 0.75)
  expect(believed.filter((each) => JSON.stringify(lieOf(each, text)).includes(forged)).length).toBeGreaterThan(60)
  expect(commands.length).toBeGreaterThan(50)
})

/** Their answer is prose of the service, whose line ends are its own. */
const prose = new Set(['resolve explain', 'resolve summary'])

const shown = new Set<string>()

test.each(commands.map((definition) => [definition.words, definition] as const))(
  'platform %s',
  async (words, definition) => {
    const env = { PLATFORM_TOKEN: 'x' }
    const typed = typeCommand(definition, file, service.url)
    for (const more of [[], 'json' in (definition.options ?? {}) ? ['--json'] : []]) {
      const { stdout, stderr } = await runCommand([...typed, ...more], { env })
      const printed = `${stdout}${stderr}`
      expect(printed.replaceAll('\n', ''), printed).not.toMatch(misleading)
      if (!prose.has(words)) expect(printed, printed).not.toMatch(forgedLine)
      if (printed.includes(forged)) shown.add(words)
    }
  },
)

test('most commands showed a text of the service', () => {
  expect(shown.size).toBeGreaterThan(25)
})
