// Opens the terminal screens over a running site: roles, sessions, channels, denials.
import { offline } from '../../daemon/boot/offline.ts'
import type { Source } from '../admin/look.ts'
import { command, Failure } from '../command.ts'
import { printable, type Row } from '../output.ts'
import { service, serviceOptions } from '../service.ts'
import { requireSite, siteOption } from '../site.ts'
import type { Terminal } from '../terminal.ts'

const { url, token } = serviceOptions

export const definition = command({
  words: 'admin',
  summary: 'watch roles, sessions, channels and denials on one screen',
  notes: 'Needs a terminal. `?` shows the keys, `q` quits. It only looks: nothing is changed.',
  options: { ...siteOption, url, token },
  example: 'platform admin --site ./site',
  async run(given, terminal) {
    if (!terminal.isInteractive || !terminal.canAsk) {
      const remedy = '`platform status --json` and `platform consensus list --json` are for scripts'
      throw new Failure(2, 'platform admin needs a terminal', remedy)
    }
    const source = await sourceOf(given, terminal)
    const { openAdmin } = await import('../admin/open.tsx')
    await openAdmin(source, terminal.hasColour)
    return 0
  },
})

type Asked = { readonly site: string | undefined; readonly url: string | undefined; readonly token: string | undefined }

/** Less than a token lasts that is minted here. */
const renewed_ms = 240_000

async function sourceOf(given: Asked, terminal: Terminal): Promise<Source> {
  let client = await service(given, terminal)
  let made = Date.now()
  const connect = async () => {
    if (Date.now() - made < renewed_ms) return client
    client = await service(given, terminal)
    made = Date.now()
    return client
  }
  const where = given.url === undefined ? await siteHere(given, terminal) : { place: given.url, roles: undefined }
  return { ...where, connect, neutral: printable }
}

async function siteHere(given: Asked, terminal: Terminal): Promise<Pick<Source, 'place' | 'roles'>> {
  const folder = requireSite(given, terminal)
  const profile = await offline.profile()
  const { resolved, platform } = profile.siteSettings(folder, terminal.env)
  const roles = profile.rolesOf(folder, terminal.env).map(({ name }) => {
    const { listen, port, tls_cert_file } = (resolved.values.get(name) ?? {}) as Row
    const tcp = `${tls_cert_file ? 'https' : 'http'}://${listen}:${port}`
    // Port 0 is whichever was free at the start: only the socket is known here.
    return { name, url: port === 0 ? `unix:${offline.socketOf(folder, name)}` : tcp }
  })
  return { place: platform.name, roles }
}
