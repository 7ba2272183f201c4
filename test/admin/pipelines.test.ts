// The terminal screen over a site that ingests: pipelines, their newest runs, and why one failed.
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { findExecutable } from '../support/command/run-executable.ts'
import { requires } from '../support/runner/requires.ts'
import { createPackagedSite, type PackagedSite, type ServedSite } from '../support/site/packaged-site.ts'
import { openTmuxScreen } from './tmux-screen.ts'

let site: PackagedSite
let served: ServedSite
beforeAll(async () => {
  site = createPackagedSite('demo')
  const data = path.join(site.dir, 'files')
  mkdirSync(path.join(data, 'acme'), { recursive: true })
  writeFileSync(path.join(data, 'acme', 'people.csv'), 'id,name\n1,Ann\n')
  site.edit('roles: [site, consensus, resolution]', 'roles: [site, ingest]')
  site.edit('\ningest:\n', `\ningest:\n  data_folder: ${data}\n`)
  served = await site.serve()
  deploy('people', 'people.csv')
  deploy('orders', 'orders.csv')
})
afterAll(async () => {
  await served?.stop()
  site?.remove()
})

function deploy(dag_id: string, file: string): void {
  const content = path.join(site.dir, `${dag_id}.json`)
  const tasks = [{ name: 'read', operator: 'ingest_file', params: { file }, retries: 0 }]
  writeFileSync(content, JSON.stringify({ format: 1, dag_id, tasks }))
  const { exit, stderr } = site.run(['ingest', 'deploy', content, '--schedule', '@daily'])
  expect([exit, stderr]).toEqual([0, ''])
}

requires('tmux')('shows pipelines as their runs end, and why the newest one of one failed', async () => {
  const screen = openTmuxScreen({ PLATFORM: findExecutable(), PLATFORM_SITE: site.dir })
  try {
    screen.type('"$PLATFORM" admin; echo "ended:$?"')
    const first = await screen.waitFor(/people +active +- +-/)
    expect(first).toMatch(/PIPELINES \(2\)/)
    expect(first).not.toMatch(/SESSIONS/)
    expect(site.run(['ingest', 'run', 'people', '--wait']).exit).toBe(0)
    expect(site.run(['ingest', 'run', 'orders', '--wait']).exit).toBe(1)
    await screen.waitFor(/people +active +success +20\d\d-/)
    await screen.waitFor(/orders +active +failed +20\d\d-/)
    screen.press('BTab', 'Home', 'Enter')
    const detail = await screen.waitFor(/^why +read:/m)
    expect(detail).toMatch(/^pipeline +orders$/m)
    expect(detail).toMatch(/^schedule +@daily$/m)
    expect(detail).toMatch(/orders\.csv: the data file does not exist/)
    screen.press('q')
    await screen.waitFor(/ended:0$/m)
  } finally {
    screen.close()
  }
})
