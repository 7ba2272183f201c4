// Opens the terminal screens over a running site: roles, sessions, pipelines, channels, denials, and the gateway.
import { listListeners } from '../../daemon/kernel/role/configured-listener.ts'
import { offline } from '../../daemon/offline/offline.ts'
import type { AdminSource } from '../admin/admin-snapshot.ts'
import { connectService, type ServiceOptionsInput, serviceOptions } from '../options/service-options.ts'
import { requireOwnSite, siteOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import type { Terminal } from '../terminal/terminal.ts'

const { url, ca, token, tokenFile } = serviceOptions

export const definition = command({
  words: 'admin',
  summary: 'Watch roles, sessions, pipelines, channels, denials and the gateway on one screen',
  notes: 'Needs a terminal. `?` lists the keys, `q` quits. The screens are read-only.',
  options: { ...siteOption, url, ca, token, tokenFile },
  example: 'platform admin --site ./site',
  async run(params, terminal) {
    if (!terminal.isInteractive || !terminal.canPrompt) {
      const remedy = 'in scripts, use `platform status --json` and `platform consensus list --json`'
      throw new CommandFailure(2, 'platform admin needs a terminal', remedy)
    }
    const source = await createAdminSource(params, terminal)
    const { openAdmin } = await import('../admin/open.tsx')
    await openAdmin(source, terminal.hasColour)
    return 0
  },
})

async function createAdminSource(params: ServiceOptionsInput, terminal: Terminal): Promise<AdminSource> {
  const client = await connectService(params, terminal)
  const description =
    params.url === undefined ? await describeLocalSite(params, terminal) : { siteName: params.url, roles: undefined }
  return { ...description, connect: async () => client }
}

async function describeLocalSite(
  params: ServiceOptionsInput,
  terminal: Terminal,
): Promise<Pick<AdminSource, 'siteName' | 'roles'>> {
  const folder = requireOwnSite(params, terminal)
  const profile = await offline.profile()
  const { resolved, platform } = profile.readSiteSettings(folder, terminal.env)
  const roles = profile.listProfileRoles(folder, terminal.env).map((role) => {
    const [{ host, port, tls }] = listListeners(role, resolved)
    const tcp = `${tls?.cert_file ? 'https' : 'http'}://${host}:${port}`
    // With port 0 the role takes a free port at its start: only the socket is known here.
    return { name: role.name, url: port === 0 ? `unix:${offline.socketOf(folder, role.name)}` : tcp }
  })
  return { siteName: platform.name, roles }
}
