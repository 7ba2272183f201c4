// Restarts a site with other settings.
import { readFileSync, writeFileSync } from 'node:fs'
import { parse, stringify } from 'yaml'
import type { ProfileSections, TestSite } from './test-site.ts'

/** `sections`: laid over those of its profile, field by field. */
export async function restartWith(site: TestSite, sections: ProfileSections): Promise<void> {
  await site.stop()
  const profile = parse(readFileSync(site.folder.profile, 'utf8')) as ProfileSections
  const changed = Object.entries(sections).map(([name, fields]) => [name, { ...profile[name], ...fields }] as const)
  writeFileSync(site.folder.profile, stringify({ ...profile, ...Object.fromEntries(changed) }))
  await site.start()
}
