// The name and version of this executable, and of its libraries, from package.json.
import manifest from '../../../package.json' with { type: 'json' }

/** The one version that every surface shows. */
export const product = { name: manifest.name, version: manifest.version }

/** The libraries that this executable holds, with their versions. */
export const libraries = Object.entries(manifest.dependencies).map(([name, version]) => ({ name, version }))

/** The `User-Agent` of the site's own requests. */
export const user_agent = `${product.name}/${product.version}`
