// Paths of an installation. `--root DIR` is put before each of them, for chroots and images.
import { join } from 'node:path'

export const layout = {
  library: '/usr/local/lib/platform',
  releases: '/usr/local/lib/platform/releases',
  current: '/usr/local/lib/platform/current',
  supervisor: '/usr/local/lib/platform/supervise',
  command: '/usr/local/bin/platform',
  settings: '/etc/platform',
  answers: '/etc/platform/answers.yaml',
  record: '/etc/platform/installation.json',
  state: '/var/lib/platform',
  site: '/var/lib/platform/site',
  backups: '/var/backups/platform',
  units: '/etc/systemd/system',
  tmpfiles: '/etc/tmpfiles.d/platform.conf',
  sysusers: '/etc/sysusers.d/platform.conf',
  manual: '/usr/local/share/man/man1',
  bash: '/usr/local/share/bash-completion/completions/platform',
  zsh: '/usr/local/share/zsh/site-functions/_platform',
  fish: '/usr/local/share/fish/vendor_completions.d/platform.fish',
} as const

export function releaseFolder(version: string): string {
  return join(layout.releases, version)
}

export function unitName(role: string): string {
  return `platform-${role}.service`
}

export const target_name = 'platform.target'
