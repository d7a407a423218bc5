package chart

// texts are the wrapped texts above and below a figure, made once to find its
// height and then drawn.
type texts struct{ title, subtitle, notes []string }

const (
	titleGap    = 14.5 // from one line of the title to the next
	sectionGap  = 8    // between the texts and what they belong to
	axisHeight  = 32   // tick labels and title of a horizontal axis
	keyGap      = 16   // between two entries of the key
	keyMarkSize = 12   // room of a mark in the key
)

// layout wraps the texts of the head.
func (h Head) layout(notes ...string) texts {
	const room = width - 2*margin
	t := texts{title: titleText.balance(h.Title, room), subtitle: subtitleText.balance(h.Subtitle, room)}
	for _, note := range append(notes, h.Notes...) {
		t.notes = append(t.notes, axisText.wrap(note, room)...)
	}
	return t
}

// top returns the height of what stands above the key and the data.
func (t texts) top() float64 {
	return margin + titleGap*float64(len(t.title)) + lineGap*float64(len(t.subtitle)) + sectionGap
}

// bottom returns the height of what stands below the data and its axis.
func (t texts) bottom() float64 {
	if len(t.notes) == 0 {
		return margin - 4
	}
	return sectionGap/2 + lineGap*float64(len(t.notes)) + margin - 4
}

// draw writes title and subtitle at the top and the notes at the bottom.
func (t texts) draw(c *canvas) {
	y := float64(margin) - 4
	for _, text := range t.title {
		y += titleGap
		c.text(titleText, point{margin, y - 2}, start, text)
	}
	for _, text := range t.subtitle {
		y += lineGap
		c.text(subtitleText, point{margin, y}, start, text)
	}
	y = c.height - t.bottom() + sectionGap/2
	for _, text := range t.notes {
		y += lineGap
		c.text(axisText, point{margin, y - 3}, start, text)
	}
}

// An entry of the key explains a mark.
type entry struct {
	mark func(c *canvas, p point)
	text string
}

// A key explains those marks that are not labelled where they stand.
type key []entry

// add appends an entry when the mark occurs.
func (k *key) add(occurs bool, text string, mark func(c *canvas, p point)) {
	if occurs {
		*k = append(*k, entry{mark, text})
	}
}

// dot appends the mark of a series.
func (k *key) dot(occurs bool, s Series) {
	k.add(occurs, s.Name, func(c *canvas, p point) { c.dot(p, s.Color.shade(s.Light), dotSize, false) })
}

// published and noisy append the marks that mean the same in all charts.
func (k *key) published(occurs bool) {
	k.add(occurs, "published value", func(c *canvas, p point) { c.diamond(p) })
}

func (k *key) noisy(occurs bool) {
	k.add(occurs, "noisy window (steal or throttling)", func(c *canvas, p point) { c.dot(p, faintInk, dotSize, true) })
}

// place returns where the entries go, in as many lines as they need, and the
// height of it all.
func (k key) place(top float64) (places []point, height float64) {
	if len(k) == 0 {
		return nil, 0
	}
	at := point{margin, top + lineGap/2}
	for _, e := range k {
		room := keyMarkSize + axisText.width(e.text)
		if at.x > margin && at.x+room > width-margin {
			at = point{margin, at.y + lineGap + 2}
		}
		places = append(places, at)
		at.x += room + keyGap
	}
	return places, at.y - top + lineGap/2 + sectionGap
}

// draw draws the key in the places that place gives.
func (k key) draw(c *canvas, top float64) {
	places, _ := k.place(top)
	for i, p := range places {
		k[i].mark(c, point{p.x + keyMarkSize/2 - 2, p.y})
		c.label(axisText, point{p.x + keyMarkSize, p.y}, start, k[i].text)
	}
}

// drawHorizontal draws the grid and labels of a horizontal axis below the area
// from top to bottom.
func (a axis) drawHorizontal(c *canvas, ticks []tick, quantity string, top, bottom float64) {
	for _, t := range ticks {
		c.line(stroke{color: gridColor, width: 0.6}, point{t.place, top}, point{t.place, bottom})
		if t.label != "" {
			c.text(axisText, point{t.place, bottom + 11}, middle, t.label)
		}
	}
	if !a.log {
		c.line(stroke{color: axisColor, width: 0.8}, point{a.from, top}, point{a.from, bottom})
	}
	c.text(axisText, point{(a.from + a.to) / 2, bottom + 25}, middle, a.title(quantity))
}
