// Problems of the tool servers in a profile that forbid the start: names of others, and what must not be shown to a server.
import { accessSync, constants, realpathSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { SiteFolder } from '../../boot/storage/site-folder.ts'
import { getSettings } from '../../kernel/settings/get-settings.ts'
import { platformSettings } from '../../kernel/settings/platform-settings.ts'
import type { ProfileProblem } from '../../kernel/settings/profile-error.ts'
import type { ResolvedSettings } from '../../kernel/settings/settings.ts'
import { settings } from '../../roles/gateway/settings.ts'
import type { StdioServerSettings } from '../../roles/gateway/stdio-server/model.ts'
import { ingressSettings } from '../../shared/routing/ingress-settings.ts'
import { routedServices } from '../../shared/routing/routed-services.ts'

export function findStdioServerProblems(resolved: ResolvedSettings, folder: SiteFolder): ProfileProblem[] {
  const { stdio_servers, registrants } = getSettings(resolved, settings)
  const { backends } = getSettings(resolved, ingressSettings)
  const { deployment_profile, roles } = getSettings(resolved, platformSettings)
  const taken = new Set([
    ...routedServices.map(({ name }) => name),
    ...roles,
    ...Object.keys(backends),
    ...Object.keys(registrants),
  ])
  const ownFolders = [dirname(folder.profile), folder.keys, folder.data]
  return Object.entries(stdio_servers).flatMap(([name, server]) => {
    const path = `gateway.stdio_servers.${name}`
    const isOpen = deployment_profile === 'classified_airgapped' && server.network !== 'none'
    return [
      ...(taken.has(name) ? [{ path, message: 'is the name of another service or role: choose another one' }] : []),
      ...(isOpen ? [{ path: `${path}.network`, message: 'must be none in this deployment profile' }] : []),
      ...findUnreadableSecrets(path, server),
      ...findShownSiteFiles(path, server, ownFolders),
    ]
  })
}

function findUnreadableSecrets(path: string, { secret_env }: StdioServerSettings): ProfileProblem[] {
  return Object.entries(secret_env).flatMap(([variable, file]) =>
    isReadable(file) ? [] : [{ path: `${path}.secret_env.${variable}`, message: `${file} cannot be read` }],
  )
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

/** Keys, tokens and documents of the site are in its folder: neither it nor what holds it is shown. */
function findShownSiteFiles(
  path: string,
  { command: [program], visible }: StdioServerSettings,
  ownFolders: readonly string[],
): ProfileProblem[] {
  const own = ownFolders.map(resolveLinks)
  return [
    ...visible.map((shown, at) => [`${path}.visible.${at}`, shown] as const),
    [`${path}.command.0`, program] as const,
  ].flatMap(([at, shown]) =>
    own.some((folder) => isWithin(folder, resolveLinks(shown)) || isWithin(resolveLinks(shown), folder))
      ? [{ path: at, message: 'would show the server files of the site: name a folder outside of the site’s own' }]
      : [],
  )
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (way !== '..' && !way.startsWith('../'))
}
