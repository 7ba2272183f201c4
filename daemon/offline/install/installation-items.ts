// The desired state of an installation: everything that has to exist on the machine, in the order in which it is made.
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type InstallationAnswers, roleUser } from './answers.ts'
import { layout, releaseFolder, target_name, unitName } from './layout.ts'
import { renderSysusers, renderTmpfiles, renderUnits, wants_folders } from './service-units.ts'
import { renderSupervisor } from './shell-supervisor.ts'

export type InstallationItem =
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'user'; readonly name: string; readonly group: string; readonly comment: string }
  /** `owner`: by name; undefined for root, and for a folder of the system whose owner and mode are left as they are if it exists. */
  | InstallationFolder
  | InstallationFile
  | {
      readonly kind: 'copy'
      readonly path: string
      readonly mode: number
      readonly source: string
      readonly sha256: string
    }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'site'; readonly path: string; readonly arguments: readonly string[] }
  | {
      readonly kind: 'division'
      readonly path: string
      readonly group: string
      readonly users: Readonly<Record<string, string>>
    }
  | { readonly kind: 'service'; readonly unit: string }

/** The item of one kind. */
export type InstallationItemOf<K extends InstallationItem['kind']> = Extract<InstallationItem, { kind: K }>

export type InstallationFolder = {
  readonly kind: 'folder'
  readonly path: string
  readonly mode: number
  readonly owner?: { readonly user: string; readonly group: string }
  readonly is_shared?: true
}

export type InstallationFile = {
  readonly kind: 'file'
  readonly path: string
  readonly mode: number
  readonly content: string
}

/** A file of the release, with the digest that was verified. */
export type ReleaseFile = {
  readonly path: string
  readonly source: string
  readonly mode: number
  readonly sha256: string
}

/** Documents that are rendered from the definitions of the commands. */
export type CommandDocuments = {
  readonly completions: Readonly<Record<'bash' | 'zsh' | 'fish', string>>
  /** Text of each man page by the name of its file. */
  readonly manual: Readonly<Record<string, string>>
}

export type InstallationContents = {
  readonly version: string
  readonly release: readonly ReleaseFile[]
  readonly documents: CommandDocuments
}

export function listInstallationItems(
  answers: InstallationAnswers,
  contents: InstallationContents,
): InstallationItem[] {
  const { site, users, backups } = answers
  const files = [...listDocumentFiles(contents.documents), ...listServiceFiles(answers)]
  const owner = { user: roleUser(answers, 'site'), group: users.group }
  const links = listLinks(answers, contents.version)
  const release = listReleaseItems(contents)
  return [
    { kind: 'group', name: users.group },
    ...site.roles.map(
      (role) =>
        ({
          kind: 'user',
          name: roleUser(answers, role),
          group: users.group,
          comment: `Role ${role} of platform`,
        }) as const,
    ),
    ...listFolders(
      [...files, ...links].map(({ path }) => path),
      [layout.settings, layout.state, dirname(site.folder), dirname(backups)],
    ),
    ...[layout.library, layout.releases].map((path) => ({ kind: 'folder', path, mode: 0o755 }) as const),
    ...release,
    { kind: 'folder', path: backups, mode: 0o700, owner },
    ...files,
    ...links,
    { kind: 'site', path: site.folder, arguments: initArguments(answers) },
    {
      kind: 'division',
      path: site.folder,
      group: users.group,
      users: Object.fromEntries(site.roles.map((role) => [role, roleUser(answers, role)])),
    },
    ...(answers.service_manager === 'systemd' && answers.start
      ? [{ kind: 'service', unit: target_name } as const]
      : []),
  ]
}

function listReleaseItems({ version, release }: InstallationContents): InstallationItem[] {
  const folder = releaseFolder(version)
  const copies = release.map(
    ({ path, source, mode, sha256 }) => ({ kind: 'copy', path: join(folder, path), source, mode, sha256 }) as const,
  )
  const folders = new Set(copies.flatMap(({ path }) => foldersBetween(folder, dirname(path))))
  return [...[folder, ...folders].map((path) => ({ kind: 'folder', path, mode: 0o755 }) as const), ...copies]
}

/** Folders below `base` down to `path`, the outer ones first. */
function foldersBetween(base: string, path: string): string[] {
  return path === base ? [] : [...foldersBetween(base, dirname(path)), path]
}

function listDocumentFiles({ completions, manual }: CommandDocuments): InstallationFile[] {
  const file = (path: string, content: string): InstallationFile => ({ kind: 'file', path, mode: 0o644, content })
  return [
    ...Object.entries(manual).map(([name, text]) => file(join(layout.manual, name), text)),
    ...(['bash', 'zsh', 'fish'] as const).map((shell) => file(layout[shell], `${completions[shell]}\n`)),
  ]
}

function listServiceFiles(answers: InstallationAnswers): InstallationFile[] {
  const file = (path: string, content: string, mode = 0o644): InstallationFile => ({
    kind: 'file',
    path,
    mode,
    content,
  })
  if (answers.service_manager === 'script') return [file(layout.supervisor, renderSupervisor(answers), 0o755)]
  return [
    file(layout.sysusers, renderSysusers(answers)),
    file(layout.tmpfiles, renderTmpfiles(answers)),
    ...[...renderUnits(answers)].map(([name, text]) => file(join(layout.units, name), text)),
  ]
}

type InstallationLink = InstallationItemOf<'link'>

/** The links under `.wants` are those that `systemctl enable` makes. */
function listLinks({ site, service_manager }: InstallationAnswers, version: string): InstallationLink[] {
  const link = (path: string, target: string): InstallationLink => ({ kind: 'link', path, target })
  const release = [
    link(layout.current, join('releases', version)),
    link(layout.command, '../lib/platform/current/platform'),
  ]
  if (service_manager === 'script') return release
  return [
    ...release,
    ...site.roles.map((role) => link(join(wants_folders.roles, unitName(role)), join(layout.units, unitName(role)))),
    link(join(wants_folders.target, target_name), join(layout.units, target_name)),
  ]
}

/** Folders of the system in which these files and further folders lie, each once, but for those of the installation alone. */
function listFolders(files: readonly string[], further: readonly string[]): InstallationFolder[] {
  const folders = new Set([...files.map((file) => dirname(file)), ...further].flatMap(ownFolders))
  folders.delete(layout.library)
  return [...folders].map((path) => ({ kind: 'folder', path, mode: 0o755, is_shared: true }))
}

/** The folder and those above it. */
function ownFolders(path: string): string[] {
  return foldersBetween('/', path)
}

function initArguments({ site }: InstallationAnswers): string[] {
  const optional = (option: string, value: string | number | undefined) =>
    value === undefined ? [] : [option, String(value)]
  return [
    ...['--name', site.name, '--tenant', site.tenant ?? site.name],
    ...['--profile', site.profile, '--roles', site.roles.join(',')],
    ...optional('--port-base', site.port_base),
    ...optional('--algorithm', site.algorithm),
    '--yes',
  ]
}

export function digestContent(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
