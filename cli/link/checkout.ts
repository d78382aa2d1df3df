/** The native apps of a checkout, by the ids in their build files. Nothing of a build file is executed. */
import * as fs from 'node:fs'
import path from 'node:path'

export interface NativeApp {
  /** Relative to the project, for messages. */
  file: string
  /** The bundle ids or application ids that stand there as literal text. */
  ids: string[]
  /** Whether flavors or suffixes make ids that do not stand in the file. */
  hasVariants: boolean
}

export interface Checkout {
  ios: NativeApp[]
  android: NativeApp[]
}

/** Levels of folders that are searched: `apps/mobile/android/app/build.gradle` is the deepest usual place. */
const deepestLevel = 5

/** Folders that are searched at most, so that a huge checkout costs a command no more than a moment. */
const mostFolders = 5_000

/** Largest build file in bytes: Xcode's project file of a large app has a few MiB. */
const mostBytes = 16 * 1024 * 1024

/** Folders that hold copies and the code of others. */
const skipped = /^(?:\.|node_modules$|Pods$|build$|DerivedData$|dist$|vendor$)/

export function nativeApps(root: string): Checkout {
  const found: Checkout = { ios: [], android: [] }
  const waiting = [{ folder: root, level: 0 }]
  for (let seen = 0; waiting.length > 0 && seen < mostFolders; seen++) {
    const { folder, level } = waiting.shift()!
    for (const entry of entriesOf(folder)) {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory() && entry.name.endsWith('.xcodeproj')) {
        add(found.ios, root, path.join(file, 'project.pbxproj'), readXcode)
      } else if (entry.isDirectory() && level < deepestLevel && !skipped.test(entry.name)) {
        waiting.push({ folder: file, level: level + 1 })
      } else if (entry.isFile() && /^build\.gradle(?:\.kts)?$/.test(entry.name)) {
        add(found.android, root, file, readGradle)
      }
    }
  }
  return found
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1))
  } catch {
    return [] // a folder that this user may not read holds no app of theirs
  }
}

function add(
  apps: NativeApp[],
  root: string,
  file: string,
  read: (text: string) => Omit<NativeApp, 'file'> | undefined,
): void {
  if (!fs.existsSync(file) || fs.statSync(file).size > mostBytes) return
  const app = read(fs.readFileSync(file, 'utf8'))
  if (app) apps.push({ file: path.relative(root, file), ...app })
}

/** Targets of tests have ids of their own, which no client is registered for. */
function readXcode(text: string): Omit<NativeApp, 'file'> {
  const ids = [...text.matchAll(/PRODUCT_BUNDLE_IDENTIFIER = "?([A-Za-z0-9.-]+)"?;/g)].map(([, id]) => id!)
  return { ids: [...new Set(ids)], hasVariants: false }
}

/** @returns `undefined` for a build file of a library, which has no application id. */
function readGradle(text: string): Omit<NativeApp, 'file'> | undefined {
  const plain = text.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, '')
  if (!/\bapplicationId\b/.test(plain)) return undefined
  const ids = [...plain.matchAll(/\bapplicationId\s*(?:=|\(|\s)\s*["']([\w.]+)["']/g)].map(([, id]) => id!)
  const hasVariants = /\b(?:productFlavors|flavorDimensions|applicationIdSuffix)\b/.test(plain) || ids.length === 0
  return { ids: [...new Set(ids)], hasVariants }
}
