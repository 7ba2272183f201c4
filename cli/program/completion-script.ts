// Completion scripts for bash, zsh and fish: the words that may follow what is typed, and the options of a command.
import type { AnyCommandDefinition, Params } from './command.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof shells)[number]

export function buildCompletionScript(shell: CompletionShell, all: readonly AnyCommandDefinition[]): string {
  return { bash: buildBashScript, zsh: buildZshScript, fish: buildFishScript }[shell](all)
}

/** What may follow each beginning: `''`, `consensus`, `consensus create`, … to words or options. */
function listCompletions(all: readonly AnyCommandDefinition[]): Map<string, string[]> {
  const found = new Map<string, Set<string>>()
  const add = (path: string, word: string) => found.set(path, (found.get(path) ?? new Set()).add(word))
  for (const { words, options } of all) {
    const parts = words.split(' ')
    for (const [at, part] of parts.entries()) add(parts.slice(0, at).join(' '), part)
    for (const name of Object.keys((options ?? {}) as Params)) add(words, toLongOption(name))
    add(words, '--help')
  }
  return new Map([...found].map(([path, words]) => [path, [...words].sort()]))
}

function toLongOption(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function buildCases(all: readonly AnyCommandDefinition[], variable: string): string {
  return [...listCompletions(all)]
    .map(([path, words]) => `    '${path}') ${variable}='${words.join(' ')}' ;;`)
    .join('\n')
}

function buildBashScript(all: readonly AnyCommandDefinition[]): string {
  return `# bash completion for platform
_platform() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${buildCases(all, 'words')}
    esac
    [[ -n "$words" || -z "$path" ]] && break
    case "$path" in *' '*) path="\${path% *}" ;; *) path='' ;; esac
  done
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
  [[ \${#COMPREPLY[@]} -eq 0 ]] && mapfile -t COMPREPLY < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o filenames -F _platform platform`
}

function buildZshScript(all: readonly AnyCommandDefinition[]): string {
  return `#compdef platform
_platform() {
  local at='' word offers=''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) break ;; *) at="\${at:+$at }$word" ;; esac
  done
  while true; do
    case "$at" in
${buildCases(all, 'offers')}
    esac
    [[ -n "$offers" || -z "$at" ]] && break
    if [[ "$at" == *' '* ]]; then at="\${at% *}"; else at=''; fi
  done
  compadd -- \${=offers} || _files
}
compdef _platform platform`
}

function buildFishScript(all: readonly AnyCommandDefinition[]): string {
  const lines = all.flatMap(({ words, summary, options }) => {
    const before = words.split(' ').slice(0, -1).join(' ')
    const last = words.split(' ').at(-1)
    const offer = `complete -c platform -f -n '__platform_after ${before}' -a ${last} -d '${escapeFishString(summary)}'`
    const named = Object.entries((options ?? {}) as Params).map(([name, { metavar, help }]) => {
      const value = metavar === undefined ? '' : ' -r'
      return `complete -c platform -n '__platform_in ${words}' -l ${toLongOption(name).slice(2)}${value} -d '${escapeFishString(help)}'`
    })
    return [offer, ...named]
  })
  return [
    '# fish completion for platform',
    'function __platform_words',
    "  commandline -opc | tail -n +2 | string match -v -- '-*'",
    'end',
    '# The words so far are these and no others: what comes next is a command.',
    'function __platform_after',
    '  set -l typed (__platform_words)',
    '  test "$typed" = "$argv"',
    'end',
    '# The words so far begin with these: their options apply.',
    'function __platform_in',
    '  set -l typed (__platform_words)',
    '  set -l many (count $argv)',
    '  test "$typed[1..$many]" = "$argv"',
    'end',
    ...buildGroupLines(all),
    ...lines,
  ].join('\n')
}

/** A group is offered once, though many commands begin with it. */
function buildGroupLines(all: readonly AnyCommandDefinition[]): string[] {
  const paths = all.flatMap(({ words }) => {
    const parts = words.split(' ')
    return parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join(' '))
  })
  return [...new Set(paths)].map((path) => {
    const before = path.split(' ').slice(0, -1).join(' ')
    return `complete -c platform -f -n '__platform_after ${before}' -a ${path.split(' ').at(-1)}`
  })
}

function escapeFishString(given: string): string {
  return given.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
