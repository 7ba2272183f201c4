// The role that owns the keys, peers and channels of the site.
import { roles } from '../../roles.ts'

/** Name of the role: its run folder holds the locks of channels, and its database the journal. */
export const siteOwner: string = findSiteOwner()

function findSiteOwner(): string {
  const owner = roles.find(({ owns_site_files }) => owns_site_files)
  if (!owner) throw new TypeError('no role owns the files of the site')
  return owner.name
}
