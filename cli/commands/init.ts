// Creates a site (folder, profile and keys) and prints the next steps.
import { basename, resolve } from 'node:path'
import { keyAlgorithm } from '../../daemon/kernel/cryptography/signatures.ts'
import { offline } from '../../daemon/offline/offline.ts'
import { jsonOption } from '../options/site-options.ts'
import { CommandFailure, command } from '../program/command.ts'
import { choice, flag, integer, nameList, text, withDefault } from '../program/params.ts'
import { formatFields, printResult } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

export const definition = command({
  words: 'init',
  summary: 'Create a site: profile, keys, folders',
  notes: 'Never changes an existing site. Only the current user can read the files that it creates.',
  options: {
    site: text('DIR', 'Site folder (default: PLATFORM_SITE, ./site)'),
    tenant: text('TENANT', 'Tenant of the site (default: its name)'),
    name: text('NAME', 'Name of the site, by which peers address it (default: the name of the folder)'),
    profile: withDefault('classified-airgapped', text('PROFILE', 'Shipped profile to start from')),
    roles: nameList('ROLES', 'Roles that the site runs, such as site,consensus,hub (default: those of the profile)'),
    portBase: integer(
      'N',
      'First port: roles listen on N, N+1, …; 0 takes free ports (default: the standard ports)',
      0,
      65_000,
    ),
    algorithm: choice('ALGORITHM', 'Algorithm of the keys; default: Ed25519', keyAlgorithm.options),
    yes: flag('Skip the confirmation'),
    ...jsonOption,
  },
  example: 'platform init --site ./alpha --tenant acme --port-base 9400 --yes',
  async run(params, terminal) {
    const dir = resolve(params.site ?? (terminal.env.PLATFORM_SITE || 'site'))
    const name =
      params.name ??
      basename(dir)
        .toLowerCase()
        .replaceAll(/[^a-z0-9-]+/g, '-')
    const tenant_id = params.tenant ?? name
    const template = params.profile.replaceAll('_', '-')
    if (
      !(await isConfirmed(
        terminal,
        params.yes,
        `Create the site ${name} (tenant ${tenant_id}, ${template}) in ${dir}?`,
      ))
    ) {
      throw new CommandFailure(3, 'not confirmed; nothing was created')
    }
    const folder = offline.siteFolder(dir)
    const { makeSite } = await offline.siteCreation()
    const { portBase: port_base, algorithm } = params
    const roles = params.roles.length > 0 ? params.roles : undefined
    const created = await makeSite(folder, { template, name, tenant_id, roles, port_base, algorithm, now: Date.now() })
    const keys = created.keys.map(({ kid, use, algorithm, fingerprint }) => ({ kid, use, algorithm, fingerprint }))
    const summary = { site: dir, name, tenant_id, profile: folder.profile, ports: created.ports, keys }
    printResult(terminal, params.json, summary, () =>
      formatFields(terminal, { site: dir, name, tenant: tenant_id, ...listFingerprints(keys) }),
    )
    if (!params.json) for (const line of listNextSteps(params.site ?? dir)) terminal.note(line)
    return 0
  },
})

/** Creating a folder destroys nothing, so no confirmation is needed without a terminal. */
async function isConfirmed(terminal: Terminal, yes: boolean, question: string): Promise<boolean> {
  if (yes || !terminal.canPrompt) return true
  const reply = await terminal.prompt(`${question} [Y/n] `)
  return reply === '' || /^y(es)?$/i.test(reply ?? '')
}

function listFingerprints(keys: readonly { use: string; fingerprint: string }[]) {
  return Object.fromEntries(keys.map(({ use, fingerprint }) => [`${use} key`, fingerprint]))
}

function listNextSteps(site: string): string[] {
  return [
    '',
    'Next:',
    `  platform profile explain --site ${site}      what is set, and why`,
    `  platform serve --site ${site}                run it`,
    `  platform keys export --site ${site} --out keys.json   what a peer imports`,
    `  platform doctor --site ${site}               find problems and their repairs`,
  ]
}
