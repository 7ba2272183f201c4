// First words that people type for objects whose commands are elsewhere: no spelling leads from one to the other.

/** Plural, the words that mean it, and the command that shows such objects. */
const places: readonly (readonly [objects: string, words: readonly string[], command: string])[] = [
  ['Backups', ['backup', 'backups', 'restore'], 'store'],
  ['Bulk dispositions', ['bulk'], 'signal bulk list'],
  ['Channels', ['channel', 'channels'], 'filedrop status'],
  ['Clusters', ['cluster', 'clusters', 'entity', 'entities'], 'resolve clusters'],
  ['Contributions', ['contribution', 'contributions', 'contribute'], 'consensus contribute'],
  ['Dissent records', ['dissent'], 'consensus dissent'],
  ['Exchanges', ['exchange', 'exchanges'], 'resolve exchange list'],
  ['Insights', ['insights'], 'insight list'],
  ['Keys', ['key'], 'keys list'],
  ['Lenses', ['lens', 'lenses'], 'resolve lens'],
  ['Logs', ['log', 'logs'], 'audit list'],
  ['Matches', ['match', 'matches'], 'resolve matches'],
  ['Messages', ['message', 'messages'], 'filedrop waiting'],
  ['Nodes', ['node', 'nodes'], 'hub nodes'],
  ['Peers', ['peer'], 'peers list'],
  ['People', ['person', 'user', 'users'], 'people list'],
  ['Quarantined messages', ['quarantine'], 'filedrop quarantine list'],
  ['Records', ['record', 'records'], 'resolve add'],
  ['Registries', ['registry', 'registries'], 'resolve registry show'],
  ['Roles', ['role', 'roles', 'health'], 'status'],
  ['Runs', ['run', 'runs'], 'resolve runs'],
  ['Services', ['service', 'services'], 'gateway services'],
  ['Sessions', ['session', 'sessions'], 'consensus list'],
  ['Settings', ['setting', 'settings', 'config'], 'profile explain'],
  ['Signals', ['signals'], 'signal list'],
  ['Silences', ['silence', 'silences'], 'signal silence list'],
  ['Sources of signals', ['source', 'sources'], 'signal source list'],
  ['Tokens', ['tokens'], 'token'],
  ['Tools', ['tool'], 'tools list'],
]

/** For example `Sessions are under platform consensus list`; undefined for a word that means no object. */
export function findMisplacedWord(word: string): string | undefined {
  const place = places.find(([, words]) => words.includes(word))
  return place && `${place[0]} are under platform ${place[2]}`
}

/** Every word with the command that it leads to. */
export const misplacedWords = places.flatMap(([, words, command]) => words.map((word) => [word, command] as const))
