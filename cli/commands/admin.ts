// Opens the terminal screens over a running site: roles, sessions, channels, denials.
import { offline } from '../../daemon/offline/offline.ts'
import type { AdminSource } from '../admin/admin-snapshot.ts'
import { connectService, serviceOptions } from '../options/service-options.ts'
import { requireSite, siteOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import { escapeControls, type OutputRow } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

const { url, token } = serviceOptions

export const definition = command({
  words: 'admin',
  summary: 'Watch roles, sessions, channels and denials on one screen',
  notes: 'Needs a terminal. `?` lists the keys, `q` quits. The screens are read-only.',
  options: { ...siteOption, url, token },
  example: 'platform admin --site ./site',
  async run(given, terminal) {
    if (!terminal.isInteractive || !terminal.canAsk) {
      const remedy = 'in scripts, use `platform status --json` and `platform consensus list --json`'
      throw new CommandFailure(2, 'platform admin needs a terminal', remedy)
    }
    const source = await createAdminSource(given, terminal)
    const { openAdmin } = await import('../admin/open.tsx')
    await openAdmin(source, terminal.hasColour)
    return 0
  },
})

type AdminOptionsInput = {
  readonly site: string | undefined
  readonly url: string | undefined
  readonly token: string | undefined
}

/** Less than a token lasts that is minted here. */
const client_renewal_ms = 240_000

async function createAdminSource(given: AdminOptionsInput, terminal: Terminal): Promise<AdminSource> {
  let client = await connectService(given, terminal)
  let made = Date.now()
  const connect = async () => {
    if (Date.now() - made < client_renewal_ms) return client
    client = await connectService(given, terminal)
    made = Date.now()
    return client
  }
  const where =
    given.url === undefined ? await describeLocalSite(given, terminal) : { place: given.url, roles: undefined }
  return { ...where, connect, sanitize: escapeControls }
}

async function describeLocalSite(
  given: AdminOptionsInput,
  terminal: Terminal,
): Promise<Pick<AdminSource, 'place' | 'roles'>> {
  const folder = requireSite(given, terminal)
  const profile = await offline.profile()
  const { resolved, platform } = profile.readSiteSettings(folder, terminal.env)
  const roles = profile.listProfileRoles(folder, terminal.env).map(({ name }) => {
    const { listen, port, tls_cert_file } = (resolved.values.get(name) ?? {}) as OutputRow
    const tcp = `${tls_cert_file ? 'https' : 'http'}://${listen}:${port}`
    // Port 0 is whichever was free at the start: only the socket is known here.
    return { name, url: port === 0 ? `unix:${offline.socketOf(folder, name)}` : tcp }
  })
  return { place: platform.name, roles }
}
