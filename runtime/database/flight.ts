/** Several statements, one Sync: one round trip, and nothing runs after the first that fails (contract 5.2). */

export interface Statement {
  text: string
  /** Bound as text. */
  values: readonly (string | null)[]
}

/** The part of the driver's connection that sends messages of the extended query protocol. */
export interface Wire {
  parse(message: { text: string; name: string; types: never[] }): void
  bind(message: { portal: string; statement: string; values: unknown[]; binary: boolean }): void
  describe(message: { type: 'P'; name: string }): void
  execute(message: { portal: string; rows: number }): void
  sync(): void
}

interface Fields {
  fields: { name: string; dataTypeID: number; format: string }[]
}

/** What the driver's client accepts in place of a query. */
export class Flight {
  readonly done: Promise<Record<string, unknown>[][]>
  #statements: readonly Statement[]
  #parserOf: (type: number) => (text: string) => unknown
  #results: Record<string, unknown>[][] = []
  #rows: Record<string, unknown>[] = []
  #fields: Fields['fields'] = []
  #resolve!: (results: Record<string, unknown>[][]) => void
  #reject!: (error: unknown) => void

  constructor(statements: readonly Statement[], parserOf: (type: number) => (text: string) => unknown) {
    this.#statements = statements
    this.#parserOf = parserOf
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }

  submit(wire: Wire): void {
    for (const { text, values } of this.#statements) {
      wire.parse({ text, name: '', types: [] })
      wire.bind({ portal: '', statement: '', values: [...values], binary: false })
      wire.describe({ type: 'P', name: '' })
      wire.execute({ portal: '', rows: 0 })
    }
    wire.sync()
  }

  handleRowDescription(message: Fields): void {
    this.#fields = message.fields
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    message.fields.forEach((text, index) => {
      const field = this.#fields[index]!
      row[field.name] = text === null ? null : this.#parserOf(field.dataTypeID)(text)
    })
    this.#rows.push(row)
  }

  handleCommandComplete(): void {
    this.#results.push(this.#rows)
    this.#rows = []
    this.#fields = []
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete()
  }

  handleReadyForQuery(): void {
    this.#resolve(this.#results)
  }

  /** After an error the driver calls nothing else of this flight. */
  handleError(error: unknown): void {
    this.#reject(error)
  }

  handlePortalSuspended(): void {}

  handleCopyInResponse(): void {}

  handleCopyData(): void {}
}
