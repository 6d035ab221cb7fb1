"""What was measured, as a page beside the papers' figures.

- `side_by_side`: the papers' figures beside measured ones; `verdict`: what follows of a paper
- `plots`, `panels`: charts, and the papers' views as charts
- `report`: the page, from the files in `page/`
"""
