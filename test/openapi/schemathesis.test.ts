// Lets schemathesis derive requests, right ones and wrong ones, from each served document, and hold the answers to it.
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect } from 'vitest'
import { roles } from '../../daemon/roles.ts'
import { type Stage, stage } from '../support/every-operation/stage.ts'
import { whenPresent } from '../support/requires.ts'

const binary = process.env.SCHEMATHESIS ?? ''
const present = whenPresent({
  isPresent: binary !== '',
  name: 'schemathesis',
  hint: 'name the program in SCHEMATHESIS (.ci/run installs it)',
})

let world: Stage
beforeAll(async () => {
  if (binary) world = await stage()
})
afterAll(() => world?.site.close())

present.each(roles.map((role) => [role.name]))(
  'the document of %s is the whole truth about its answers',
  async (role) => {
    const { site, admin } = world
    const document = path.join(site.dir, `${role}.json`)
    const served = await site.ask(role, { method: 'GET', path: '/openapi.json', token: admin })
    writeFileSync(document, served.text)
    const { failed, output } = await schemathesis(document, `http://127.0.0.1:${site.port(role)}`, admin)
    expect(failed, output).toBe(false)
    expect(site.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
  300_000,
)

async function schemathesis(document: string, url: string, token: string) {
  const options = ['run', document, '--url', url, '--header', `Authorization: Bearer ${token}`]
  const bounds = ['--seed', '20260101', '--max-examples', '12', '--request-timeout', '10', '--workers', '1']
  const cwd = path.dirname(document)
  try {
    const { stdout } = await promisify(execFile)(binary, [...options, ...bounds], { cwd, maxBuffer: 2 ** 26 })
    return { failed: false, output: stdout }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { failed: true, output: `${stdout}\n${stderr}` }
  }
}
