// What the house shows to others, whole: a change of any of it is seen in review, and accepted by `npm run accept`.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { carrierMetrics } from '../../daemon/boot/carriers.ts'
import { everyOperation } from '../../daemon/every-role.ts'
import { blocksOf } from '../../daemon/boot/profile.ts'
import { httpMetrics } from '../../daemon/boot/service.ts'
import { operationsOf } from '../../daemon/kernel/builtin.ts'
import { openapi } from '../../daemon/kernel/openapi.ts'
import { toolsOf } from '../../daemon/kernel/tools.ts'
import { everyRole } from '../../daemon/every-role.ts'
import { matchesGolden } from '../support/golden/golden-file.ts'
import { helpText } from '../support/golden/help-text.ts'
import { metricsText } from '../support/golden/metrics-text.ts'
import { operationsText } from '../support/golden/operations-text.ts'
import { settingsText } from '../support/golden/settings-text.ts'
import { toolsText } from '../support/golden/tools-text.ts'
import { runningEveryRole, smallSite } from '../support/small-site.ts'

test('operations', () => matchesGolden('test/golden/operations.txt', operationsText(everyOperation)))

// The version is left out, so that a release changes nothing here.
test.each(everyRole.map((role) => [role.name, role] as const))('OpenAPI document of %s', (name, role) => {
  const document = openapi(`platform ${name}`, '0.0.0', role.purpose, operationsOf(role))
  matchesGolden(`test/golden/openapi/${name}.json`, `${JSON.stringify(document, undefined, 2)}\n`)
})

test('tools', () => matchesGolden('test/golden/tools.txt', toolsText(toolsOf(everyOperation))))

test('settings', () => matchesGolden('docs/settings.md', settingsText(blocksOf(everyRole))))

test('each setting says what it means', () => {
  const silent = blocksOf(everyRole).flatMap((block) =>
    Object.keys(block.shape).filter((field) => !settingsText([block]).includes(`| \`${field}\` |`)),
  )
  expect(silent).toEqual([])
  expect(settingsText(blocksOf(everyRole))).not.toMatch(/\| {2}\|$/m)
})

test('metrics', async () => {
  const site = await smallSite(runningEveryRole)
  const token = await site.token({ roles: ['admin'] })
  const texts: string[] = []
  for (const role of everyRole) {
    const { text } = await site.ask(role.name, { method: 'GET', path: '/metrics', token })
    texts.push(metricsText(role.name, text, [...role.metrics, ...httpMetrics, ...carrierMetrics]))
  }
  await site.close()
  matchesGolden('test/golden/metrics.txt', texts.join('\n'))
})

test('help', async () => matchesGolden('test/golden/help.txt', await helpText()))

test('nothing accepted is left of what is gone', () => {
  const kept = readdirSync(path.join(import.meta.dirname, 'openapi')).map((file) => path.basename(file, '.json'))
  expect(kept.sort()).toEqual(everyRole.map((role) => role.name).sort())
})
