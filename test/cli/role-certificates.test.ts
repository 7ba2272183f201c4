// Moving a role to another machine as docs/remote-roles.md says, command by command; and what the commands refuse.
import { execFileSync } from 'node:child_process'
import * as fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createScratchFolder, runCommand, runJsonCommand } from '../support/command/run-command.ts'

const { dir, remove } = createScratchFolder('role-certificates')
afterAll(remove)
const at = (...names: string[]) => path.join(dir, ...names)
const documented = '/var/lib/platform/alpha'

/** The commands of a chapter, without those that serve or ask a running site. */
function readCommands(title: string): string[] {
  const page = fs.readFileSync('docs/remote-roles.md', 'utf8')
  const [, chapter = ''] = page.split(`\n## ${title}\n`)
  const [text = ''] = chapter.split('\n## ')
  return text.split('\n').flatMap((line) => /^ {4}\$ (.+)$/.exec(line)?.[1] ?? [])
}

async function type(line: string, folder: string): Promise<void> {
  const typed = line.replaceAll(documented, folder)
  const [program, ...words] = typed.split(' ')
  if (program === 'platform') {
    const { exit, stderr } = await runCommand(words)
    expect(exit, `${typed}: ${stderr}`).toBe(0)
  } else execFileSync('sh', ['-c', `umask 077; ${typed}`], { cwd: dir })
}

beforeAll(async () => {
  await runJsonCommand([
    'init',
    '--site',
    at('alpha'),
    '--name',
    'alpha',
    '--profile',
    'demo',
    '--port-base',
    '0',
    '--yes',
  ])
})

test('the commands of the page make a folder for the other machine, for its user alone', async () => {
  for (const line of readCommands('1. Issue certificates')) await type(line, at('alpha'))
  const carrying = readCommands('2. Carry what the role needs')
  expect(carrying).toHaveLength(4)
  for (const [index, line] of carrying.entries()) await type(line, index === 0 ? at('alpha') : at('away', 'alpha'))
  const listed = fs.readdirSync(at('away', 'alpha'), { recursive: true, withFileTypes: true })
  const files = listed
    .filter((each) => each.isFile())
    .map((each) => path.relative(at('away'), path.join(each.parentPath, each.name)))
  expect(files.sort()).toEqual([
    'alpha/identity/revoked.jsonl',
    'alpha/identity/role-authorities.pem',
    'alpha/identity/roles/ingest/certificates/role.pem',
    expect.stringMatching(/^alpha\/identity\/roles\/ingest\/token-.+\.json$/),
    'alpha/identity/token-keys.json',
  ])
  for (const each of listed) expect(fs.statSync(path.join(each.parentPath, each.name)).mode & 0o077, each.name).toBe(0)
})

test('a certificate names its role alone, is renewed with another key, and the audit chain says so', async () => {
  const site = ['--site', at('alpha')]
  const before = await runJsonCommand(['keys', 'cert', 'show', '--role', 'ingest', ...site])
  expect(before).toMatchObject({ role: 'ingest', names: 'URI:urn:platform:site:alpha:role:ingest, DNS:b.example' })
  expect(Date.parse(String(before.not_after)) - Date.now()).toBeLessThanOrEqual(90 * 86_400_000)
  for (const line of readCommands('Renew a certificate')) await type(line, at('alpha'))
  const after = await runJsonCommand(['keys', 'cert', 'show', '--role', 'ingest', ...site])
  expect(after).toMatchObject({ role: 'ingest', names: before.names, issuer: before.issuer })
  expect(after.key).not.toBe(before.key)
  const { stdout } = await runCommand(['audit', 'export', ...site])
  expect(stdout).toContain('site.role_certificate.issue')
  expect(stdout).toContain(after.key)
  expect((await runCommand(['keys', 'list', ...site])).exit).toBe(0)
})

test('no certificate for a role that does not exist, with a request, or before one was issued', async () => {
  const cert = async (...words: string[]) => {
    const { exit, stderr } = await runCommand(['keys', 'cert', ...words, '--site', at('alpha')])
    return `${exit} ${stderr}`
  }
  expect(await cert('issue', '--role', 'nobody')).toMatch(/^2 .*no role nobody/s)
  expect(await cert('issue', at('x.pem'), '--role', 'ingest', '--out', at('y.pem'))).toMatch(
    /^2 .*leave out --hosts and --role/s,
  )
  expect(await cert('show', '--role', 'hub')).toMatch(/^1 .*platform keys cert issue --role hub/s)
  expect(await cert('renew', '--role', 'hub')).toMatch(/^1 .*platform keys cert issue --role hub/s)
})

test('the doctor reports the end of the certificate of a role of the profile', async () => {
  const site = ['--site', at('alpha')]
  expect((await runCommand(['doctor', ...site])).stdout).toMatch(
    /ok +tls +the certificate by which site reaches other machines lasts/,
  )
  await runJsonCommand(['keys', 'cert', 'renew', '--role', 'site', '--days', '5', ...site])
  expect((await runCommand(['doctor', ...site])).stdout).toMatch(
    /tls +the certificate by which site .*platform keys cert renew --role site/s,
  )
})
