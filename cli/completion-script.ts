// Completion scripts for bash, zsh and fish: the words that may follow what is typed, and the options of a command.
import type { AnyDefinition, Params } from './command.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export function completionScript(shell: Shell, all: readonly AnyDefinition[]): string {
  return { bash, zsh, fish }[shell](all)
}

/** What may follow each beginning: `''`, `consensus`, `consensus create`, … to words or options. */
function following(all: readonly AnyDefinition[]): Map<string, string[]> {
  const found = new Map<string, Set<string>>()
  const add = (path: string, word: string) => found.set(path, (found.get(path) ?? new Set()).add(word))
  for (const { words, options } of all) {
    const parts = words.split(' ')
    for (const [at, part] of parts.entries()) add(parts.slice(0, at).join(' '), part)
    for (const name of Object.keys((options ?? {}) as Params)) add(words, longName(name))
    add(words, '--help')
  }
  return new Map([...found].map(([path, words]) => [path, [...words].sort()]))
}

function longName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function cases(all: readonly AnyDefinition[]): string {
  return [...following(all)].map(([path, words]) => `    '${path}') words='${words.join(' ')}' ;;`).join('\n')
}

function bash(all: readonly AnyDefinition[]): string {
  return `# bash completion for platform
_platform() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${cases(all)}
    esac
    [[ -n "$words" || -z "$path" ]] && break
    case "$path" in *' '*) path="\${path% *}" ;; *) path='' ;; esac
  done
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
  [[ \${#COMPREPLY[@]} -eq 0 ]] && mapfile -t COMPREPLY < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o filenames -F _platform platform`
}

function zsh(all: readonly AnyDefinition[]): string {
  return `#compdef platform
_platform() {
  local at="" word words=""
  for word in "\${(@)words_typed}"; do
    case "$word" in -*) break ;; *) at="\${at:+$at }$word" ;; esac
  done
  while true; do
    case "$at" in
${cases(all)}
    esac
    [[ -n "$words" || -z "$at" ]] && break
    [[ "$at" == *' '* ]] && at="\${at% *}" || at=""
  done
  compadd -- \${=words} || _files
}
_platform_entry() {
  local -a words_typed
  words_typed=("\${(@)words[2,CURRENT-1]}")
  _platform
}
compdef _platform_entry platform`
}

function fish(all: readonly AnyDefinition[]): string {
  const lines = all.flatMap(({ words, summary, options }) => {
    const parts = words.split(' ')
    const before = parts.slice(0, -1)
    const here = `__platform_at ${parts.join(' ')}`
    return [
      `complete -c platform -f -n '__platform_at ${before.join(' ')}' -a ${parts.at(-1)} -d '${quoted(summary)}'`,
      ...Object.entries((options ?? {}) as Params).map(
        ([name, param]) =>
          `complete -c platform -n '${here}' -l ${longName(name).slice(2)}${param.metavar ? ' -r' : ''} -d '${quoted(param.help)}'`,
      ),
    ]
  })
  const groups = [...new Set(all.flatMap(({ words }) => words.split(' ').slice(0, -1).slice(0, 1)))]
  return [
    '# fish completion for platform',
    'function __platform_at',
    '  set -l typed (commandline -opc)[2..-1]',
    '  set -l words (string match -v -- "-*" $typed)',
    '  test "$words[1..(count $argv)]" = "$argv"; and begin',
    '    test (count $argv) -gt 0; or test (count $words) -eq 0',
    '  end',
    'end',
    ...groups.map((group) => `complete -c platform -f -n '__platform_at' -a ${group}`),
    ...lines,
  ].join('\n')
}

function quoted(given: string): string {
  return given.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
