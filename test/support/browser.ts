/** A real browser for tests, and the checks that every page must pass in it. Its package exists for Linux on x64 alone. */
import * as fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import chromium from '@sparticuz/chromium'
import type { AxeResults } from 'axe-core'
import { type Browser, type Page, chromium as playwright } from 'playwright-core'
import { expect } from 'vitest'

export const hasBrowser = process.platform === 'linux' && process.arch === 'x64'

/** Flags of the package that weaken the browser: with them the tests would prove less than a person's browser does. */
const weakening =
  /^--(?:disable-web-security|allow-running-insecure-content|disable-site-isolation-trials|single-process|disable-features=.*)$/

/** The first call unpacks the browser to the temporary folder. */
export async function launchBrowser(): Promise<Browser> {
  const args = chromium.args.filter((flag) => !weakening.test(flag))
  return playwright.launch({ executablePath: await chromium.executablePath(), args })
}

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Rules of axe-core, those of WCAG 2.2 AA and its best practices. */
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** Least height of a button, a field and a link on its own, in CSS pixels (WCAG 2.2, 2.5.5). */
const leastTarget = 44

/** A page without a violation that axe-core finds, without a horizontal scroll bar, and with targets that fingers hit. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  await keep(page, name)
  await page.evaluate(axeSource)
  const violations = await page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } }
    const results = await axe.run({ runOnly: tags, iframes: false })
    return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }, rules)
  const { overflow, small } = await page.evaluate((least) => {
    const { document, innerWidth } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number }; querySelectorAll(selector: string): Iterable<Element> }
      innerWidth: number
    }
    type Element = { outerHTML: string; getBoundingClientRect(): { height: number } }
    const targets = [...document.querySelectorAll('button, input:not([type=hidden], [hidden]), a')]
    return {
      overflow: document.documentElement.scrollWidth - innerWidth,
      small: targets
        .filter((target) => target.getBoundingClientRect().height < least)
        .map(({ outerHTML }) => outerHTML)
        .filter((markup) => !markup.includes('target="_blank"')),
    }
  }, leastTarget)
  expect([name, violations, overflow <= 0, small]).toEqual([name, [], true, []])
}

/** Saves a picture of the page where `STACK_SCREENSHOTS` names a folder, for a person who looks at it. */
async function keep(page: Page, name: string): Promise<void> {
  const folder = process.env['STACK_SCREENSHOTS']
  if (folder) await page.screenshot({ path: path.join(folder, `${name.replaceAll(/\W+/g, '-')}.png`), fullPage: true })
}

/** Presses Tab until the element has the focus, and expects that it shows. @throws where it cannot be reached. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 20; presses++) {
    const focus = await page.evaluate((wanted) => {
      const { document, getComputedStyle } = globalThis as unknown as {
        document: { activeElement: { matches(selector: string): boolean } | null }
        getComputedStyle(element: unknown): { outlineStyle: string; outlineWidth: string }
      }
      const element = document.activeElement
      if (!element?.matches(wanted)) return undefined
      const { outlineStyle, outlineWidth } = getComputedStyle(element)
      return `${outlineStyle} ${outlineWidth}`
    }, selector)
    if (focus !== undefined) return expect([selector, focus]).toEqual([selector, 'solid 3px'])
    await page.keyboard.press('Tab')
  }
  throw new Error(`the keyboard does not reach ${selector}`)
}
