// The keys by which a site verifies evidence: its own, those of its pinned peers, and those of the people whom it enrolled.
import { peerFiles } from '../../../adapters/peers/files/peer-files.ts'
import { peopleFiles } from '../../../adapters/peers/files/people-files.ts'
import { peopleFolder, type SiteFolder } from '../../boot/storage/site-folder.ts'
import { findPinnedSender } from '../filedrop/filedrop-files.ts'
import { type EnvironmentVariables, readSiteSettings } from '../site/site-profile.ts'
import type { TrustedKeys } from './evidence-file.ts'

export async function listPinnedKeys(folder: SiteFolder, env: EnvironmentVariables): Promise<TrustedKeys[]> {
  const site = readSiteSettings(folder, env).platform.name
  const peers = await peerFiles(folder.peers).list()
  const sites = await Promise.all(
    [site, ...peers.map(({ name }) => name)].map(async (name) => {
      const { keys, threshold } = await findPinnedSender(folder, env, name)
      return { name, keys: keys.filter(({ use }) => use === 'message'), threshold, is_site: true as const }
    }),
  )
  const people = await peopleFiles(peopleFolder(folder)).list()
  return [...sites, ...people.map(({ subject, keys }) => ({ name: subject, keys, person_of: site }))]
}
