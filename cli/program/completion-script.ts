// Completion scripts for bash, zsh and fish: the words that may follow what is typed, and the options of a command.
import type { AnyCommandDefinition, Params } from './command.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof shells)[number]

export function buildCompletionScript(shell: CompletionShell, definitions: readonly AnyCommandDefinition[]): string {
  return { bash: buildBashScript, zsh: buildZshScript, fish: buildFishScript }[shell](definitions)
}

/** Words or options that may follow each prefix: `''`, `consensus`, `consensus create`, … */
function listCompletions(definitions: readonly AnyCommandDefinition[]): Map<string, string[]> {
  const completions = new Map<string, Set<string>>()
  const add = (path: string, word: string) => completions.set(path, (completions.get(path) ?? new Set()).add(word))
  for (const { words, options } of definitions) {
    const parts = words.split(' ')
    for (const [depth, part] of parts.entries()) add(parts.slice(0, depth).join(' '), part)
    for (const name of Object.keys((options ?? {}) as Params)) add(words, toLongOption(name))
    add(words, '--help')
  }
  return new Map([...completions].map(([path, words]) => [path, [...words].sort()]))
}

function toLongOption(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function buildCases(definitions: readonly AnyCommandDefinition[], variable: string): string {
  return [...listCompletions(definitions)]
    .map(([path, words]) => `    '${path}') ${variable}='${words.join(' ')}' ;;`)
    .join('\n')
}

function buildBashScript(definitions: readonly AnyCommandDefinition[]): string {
  return `# bash completion for platform
_platform() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${buildCases(definitions, 'words')}
    esac
    [[ -n "$words" || -z "$path" ]] && break
    case "$path" in *' '*) path="\${path% *}" ;; *) path='' ;; esac
  done
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
  [[ \${#COMPREPLY[@]} -eq 0 ]] && mapfile -t COMPREPLY < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o filenames -F _platform platform`
}

function buildZshScript(definitions: readonly AnyCommandDefinition[]): string {
  return `#compdef platform
_platform() {
  local at='' word offers=''
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) break ;; *) at="\${at:+$at }$word" ;; esac
  done
  while true; do
    case "$at" in
${buildCases(definitions, 'offers')}
    esac
    [[ -n "$offers" || -z "$at" ]] && break
    if [[ "$at" == *' '* ]]; then at="\${at% *}"; else at=''; fi
  done
  compadd -- \${=offers} || _files
}
compdef _platform platform`
}

function buildFishScript(definitions: readonly AnyCommandDefinition[]): string {
  const lines = definitions.flatMap(({ words, summary, options }) => {
    const parentPath = words.split(' ').slice(0, -1).join(' ')
    const word = words.split(' ').at(-1)
    const commandLine = `complete -c platform -f -n '__platform_after ${parentPath}' -a ${word} -d '${escapeFishString(summary)}'`
    const optionLines = Object.entries((options ?? {}) as Params).map(([name, { metavar, help }]) => {
      const value = metavar === undefined ? '' : ' -r'
      return `complete -c platform -n '__platform_in ${words}' -l ${toLongOption(name).slice(2)}${value} -d '${escapeFishString(help)}'`
    })
    return [commandLine, ...optionLines]
  })
  return [
    '# fish completion for platform',
    'function __platform_words',
    "  commandline -opc | tail -n +2 | string match -v -- '-*'",
    'end',
    '# The typed words are exactly these: a command word comes next.',
    'function __platform_after',
    '  set -l typed (__platform_words)',
    '  test "$typed" = "$argv"',
    'end',
    '# The typed words start with these: their options apply.',
    'function __platform_in',
    '  set -l typed (__platform_words)',
    '  set -l many (count $argv)',
    '  test "$typed[1..$many]" = "$argv"',
    'end',
    ...buildGroupLines(definitions),
    ...lines,
  ].join('\n')
}

/** A group is offered once, though many commands begin with it. */
function buildGroupLines(definitions: readonly AnyCommandDefinition[]): string[] {
  const paths = definitions.flatMap(({ words }) => {
    const parts = words.split(' ')
    return parts.slice(0, -1).map((_, depth) => parts.slice(0, depth + 1).join(' '))
  })
  return [...new Set(paths)].map((path) => {
    const parentPath = path.split(' ').slice(0, -1).join(' ')
    return `complete -c platform -f -n '__platform_after ${parentPath}' -a ${path.split(' ').at(-1)}`
  })
}

function escapeFishString(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")
}
