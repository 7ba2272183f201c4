// Someone who may release from quarantine: a key of their own on a medium of their own, enrolled at the site, and a token.
import path from 'node:path'
import type { Waivable } from '../../daemon/kernel/release.ts'
import { type PackagedSite, run } from '../support/packaged-sites.ts'

export type Releaser = {
  /** Throws when it is refused, or nobody answers. */
  request(item: string, waive: Waivable): Promise<void>
  approve(item: string): Promise<void>
}

export async function releaser(site: PackagedSite, subject: string): Promise<Releaser> {
  const base = path.dirname(site.dir)
  const dir = path.join(base, `${subject}-medium`)
  const out = path.join(base, `${subject}.json`)
  const made = await done(run(['keys', 'generate', '--use', 'personal', '--dir', dir, '--json']))
  const { kid, fingerprint } = JSON.parse(made) as { kid: string; fingerprint: string }
  await done(run(['keys', 'export', '--dir', dir, '--out', out]))
  await done(site.platform(['people', 'add', subject, out, '--fingerprint', fingerprint]))
  const { token } = await site.as(subject, ['operator', 'admin'])
  const own = ['--key', path.join(dir, `${kid}.json`), '--token', token]
  const deed = async (...words: readonly string[]) => {
    await done(site.platform(['filedrop', 'quarantine', ...words, ...own]))
  }
  return {
    request: (item, waive) => deed('request', item, '--waive', waive, '--reason', 'it was looked at'),
    approve: (item) => deed('approve', item),
  }
}

async function done(running: ReturnType<typeof run>): Promise<string> {
  const { exit, stdout, stderr } = await running
  if (exit !== 0) throw new Error(stderr)
  return stdout
}
