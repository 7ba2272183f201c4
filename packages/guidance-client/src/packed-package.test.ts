// The package as a stranger has it: packed and installed without a network, imported from an empty folder.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { startObservationDouble } from '../../../test/support/guide/observation-double.ts'
import { GuidanceCache } from './exports.ts'

const run = promisify(execFile)
const packageFolder = path.resolve(import.meta.dirname, '..')

const program = `
import { GuidanceCache, GuidanceClient, takeGuidance } from 'guidance-client'
const artifact = { id: 'a', type: 'PromptShim', version: 1, content: { body: 'hello' }, applicability: { tags: [] }, rationale: 'r' }
const guide_guidance = { as_of: '2026-01-01T00:00:00.000Z', artifacts: [artifact], rationale_summary: 'PromptShim: 1 (a)' }
const { guidance, input } = takeGuidance({ place: 'x', guide_guidance })
const cache = new GuidanceCache()
cache.update(guidance)
const client = new GuidanceClient({ url: process.argv[2], token: () => 'token' }, process.env)
client.emit({ event_type: 'tool_output', trace_id: '0af7651916cd43dd8448eb211c80319c', service: 'maps', timestamp: '2026-01-01T00:00:00Z', payload: { n: 1 } })
await client.close()
console.log(JSON.stringify({ input, additions: cache.get_system_prompt_additions(), counts: client.counts }))
`

test('it is packed, installed and imported, and talks to a gateway', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'guidance-client-'))
  const double = await startObservationDouble()
  onTestFinished(async () => {
    rmSync(folder, { recursive: true, force: true })
    await double.close()
  })
  await run('npm', ['pack', '--offline', '--pack-destination', folder], { cwd: packageFolder })
  const [packed = ''] = readdirSync(folder)
  writeFileSync(path.join(folder, 'package.json'), '{"name":"stranger","private":true,"type":"module"}')
  writeFileSync(path.join(folder, 'program.js'), program)
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./${packed}`], { cwd: folder })
  expect(readdirSync(path.join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    'guidance-client',
  ])
  const { stdout } = await run('node', ['program.js', double.url], { cwd: folder })
  expect(JSON.parse(stdout)).toEqual({
    input: { place: 'x' },
    additions: ['hello'],
    counts: { sent: 1, dropped: {}, waiting: 0 },
  })
  const files = readdirSync(path.join(folder, 'node_modules/guidance-client/dist'))
  expect(files).toEqual(expect.arrayContaining(['exports.js', 'exports.d.ts', 'guidance-client.d.ts']))
  expect(files.filter((file) => file.includes('test'))).toEqual([])
  expect(new GuidanceCache().get_spec_fragments()).toEqual([])
})
