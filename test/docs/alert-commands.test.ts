// Every command that an alert names runs on a site in the condition of the alert, and prints something to act on.
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { runCommand } from '../support/command/run-command.ts'
import { listAlertCommands } from '../support/documents/alert-rules.ts'
import { causeConditions } from '../support/monitoring/cause-alerts.ts'
import { causeEvents, openConflict } from '../support/monitoring/cause-events.ts'
import { type MonitoredSites, startMonitoredSites } from '../support/monitoring/monitored-sites.ts'
import { findTools, whenPresent } from '../support/runner/requires.ts'

const opensslRequirement = findTools('openssl')

/** Exit codes that the commands document for a site with faults. */
const documentedExits: Readonly<Record<string, number>> = { doctor: 5 }

let sites: MonitoredSites
let conflict: string
beforeAll(async () => {
  if (!opensslRequirement.isPresent) return
  sites = await startMonitoredSites()
  await causeEvents(sites)
  conflict = await openConflict(sites.alpha)
  await causeConditions(sites)
})
afterAll(async () => {
  await sites?.end()
})

whenPresent(opensslRequirement).each(listAlertCommands())('platform %s', async (line) => {
  const words = line.split(' ').map((word) => (word === 'ID' ? conflict : word))
  const ran = await runCommand([...words, '--site', path.dirname(sites.alpha.folder.profile)])
  expect(ran.exit, ran.stdout + ran.stderr).toBe(documentedExits[line] ?? 0)
  expect(ran.stdout).not.toBe('')
})
