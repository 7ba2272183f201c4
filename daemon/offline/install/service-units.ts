// The systemd units of an installation, as text. `systemd-analyze security` rates each below 2.0, except those that may make namespaces.
import { join } from 'node:path'
import type { RoleOutline } from '../../kernel/role/role.ts'
import { roles } from '../../roles.ts'
import { type InstallationAnswers, roleUser } from './answers.ts'
import { layout, target_name, unitName } from './layout.ts'

/** Text of each unit, and of the target that starts them, by the name of its file. */
export function renderUnits(answers: InstallationAnswers): ReadonlyMap<string, string> {
  const running = roles.filter(({ name }) => answers.site.roles.includes(name))
  return new Map([
    [target_name, renderTarget(answers)],
    ...running.map((role) => [unitName(role.name), renderUnit(answers, role)] as const),
  ])
}

function renderTarget({ site }: InstallationAnswers): string {
  return formatUnit({
    Unit: [
      ['Description', `Roles of the site ${site.name}`],
      ['Documentation', 'man:platform(1)'],
    ],
    Install: [['WantedBy', 'multi-user.target']],
  })
}

function renderUnit(answers: InstallationAnswers, role: RoleOutline): string {
  const { site, users } = answers
  const needed = role.needs.filter((name) => site.roles.includes(name)).map(unitName)
  return formatUnit({
    Unit: [
      ['Description', `Role ${role.name} of the site ${site.name}`],
      ['Documentation', 'man:platform-serve(1)'],
      ['After', ['network-online.target', ...needed].join(' ')],
      ['Wants', ['network-online.target', ...needed].join(' ')],
      ['PartOf', target_name],
      // Five failures in five minutes are reported as a failure of the unit, instead of going on for ever.
      ['StartLimitIntervalSec', '300'],
      ['StartLimitBurst', '5'],
    ],
    Service: [
      ['Type', 'notify'],
      // The role sends its state by `systemd-notify`, a process of its own.
      ['NotifyAccess', 'all'],
      ['User', roleUser(answers, role.name)],
      ['Group', users.group],
      ['ExecStart', `${layout.command} serve ${role.name} --site ${site.folder}`],
      ['Restart', 'on-failure'],
      ['RestartSec', '2'],
      ['TimeoutStartSec', '180'],
      ['TimeoutStopSec', '60'],
      // Node ends by SIGTERM with 143 if a second signal comes during the start.
      ['SuccessExitStatus', '143'],
      ['LimitNOFILE', '65536'],
      ['ReadWritePaths', listWritableFolders(answers, role.name).join(' ')],
      ...hardening,
      ...(answers.sandbox_roles.includes(role.name) ? sandboxing : enclosing),
    ],
    Install: [['WantedBy', target_name]],
  })
}

function listWritableFolders({ site, backups, writable }: InstallationAnswers, role: string): string[] {
  // A medium that is not mounted does not keep the role from starting.
  return role === 'site' ? [site.folder, backups, ...writable.map((path) => `-${path}`)] : [site.folder]
}

type UnitLine = readonly [name: string, value: string]

/** No MemoryDenyWriteExecute: V8 compiles JavaScript to machine code. */
const hardening: readonly UnitLine[] = [
  ['UMask', '0077'],
  ['NoNewPrivileges', 'yes'],
  ['CapabilityBoundingSet', ''],
  ['AmbientCapabilities', ''],
  ['PrivateTmp', 'yes'],
  ['PrivateDevices', 'yes'],
  ['PrivateMounts', 'yes'],
  ['DevicePolicy', 'closed'],
  ['ProtectSystem', 'strict'],
  ['ProtectHome', 'yes'],
  ['ProtectClock', 'yes'],
  ['ProtectHostname', 'yes'],
  ['ProtectKernelLogs', 'yes'],
  ['ProtectKernelModules', 'yes'],
  ['LockPersonality', 'yes'],
  ['RestrictRealtime', 'yes'],
  ['RestrictSUIDSGID', 'yes'],
  ['RestrictAddressFamilies', 'AF_UNIX AF_INET AF_INET6'],
  ['RemoveIPC', 'yes'],
  ['KeyringMode', 'private'],
  ['SystemCallArchitectures', 'native'],
  ['SystemCallErrorNumber', 'EPERM'],
  ['SystemCallFilter', '@system-service'],
  ['SystemCallFilter', '~@privileged @resources'],
  // A role gives its socket to the group of the site. `setpriv` gives up, by capset, what a command could have left.
  ['SystemCallFilter', '@chown capset'],
]

const enclosing: readonly UnitLine[] = [
  ['ProtectKernelTunables', 'yes'],
  ['ProtectControlGroups', 'yes'],
  ['ProtectProc', 'invisible'],
  ['ProcSubset', 'pid'],
  ['RestrictNamespaces', 'yes'],
]

/**
 * The sandbox of commands makes namespaces and mounts in them, bounds memory in a control group of its own, and writes kernel settings of
 * its namespace: docs/decisions/0061-sandboxed-commands.md.
 */
const sandboxing: readonly UnitLine[] = [
  ['Delegate', 'memory pids'],
  ['SystemCallFilter', 'mount umount2 pivot_root'],
]

type UnitSections = Readonly<Record<string, readonly UnitLine[]>>

function formatUnit(sections: UnitSections): string {
  const parts = Object.entries(sections).map(
    ([name, lines]) => `[${name}]\n${lines.map(([key, value]) => `${key}=${value}\n`).join('')}`,
  )
  return `# Made by platform install. Changes belong into a drop-in: systemctl edit UNIT.\n${parts.join('\n')}`
}

/** Folders that have to exist at each start of the machine, for systemd-tmpfiles. */
export function renderTmpfiles(answers: InstallationAnswers): string {
  const owner = `${roleUser(answers, 'site')} ${answers.users.group}`
  return [
    '# Made by platform install.',
    `d ${layout.state} 0755 root root -`,
    `d ${answers.backups} 0700 ${owner} -`,
    // Cleaning by age never enters the site.
    `x ${answers.site.folder}`,
    '',
  ].join('\n')
}

/** The accounts, for systemd-sysusers: an image that is started without them gets them again. */
export function renderSysusers(answers: InstallationAnswers): string {
  const { site, users } = answers
  const lines = site.roles.map(
    (role) => `u ${roleUser(answers, role)} -:${users.group} "Role ${role} of platform" / /usr/sbin/nologin`,
  )
  return ['# Made by platform install.', `g ${users.group} -`, ...lines, ''].join('\n')
}

export const wants_folders = {
  target: join(layout.units, 'multi-user.target.wants'),
  roles: join(layout.units, `${target_name}.wants`),
} as const
