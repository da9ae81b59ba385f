package duckdb_test

import "testing"

// TestPointColumns queries points in DuckDB's nested types, which are read as JSON.
func TestPointColumns(t *testing.T) {
	suite.Finds(t, map[string]string{
		`{"s":{"$geoWithin":{"$box":[[5,55],[11,61]]}}}`:                    "1",
		`{"l":{"$geoWithin":{"$box":[[-180,-90],[180,90]]}}}`:               "1 2",
		`{"l":{"$nearSphere":[5.3221,60.3913]}}`:                            "2 1",
		`{"l":{"$geoWithin":{"$centerSphere":[[10.7522,59.9139],0.0476]}}}`: "1",
		`{"p.at":{"$geoWithin":{"$box":[[10,59],[11,60]]}}}`:                "1",
	}, `CREATE TABLE m (id int PRIMARY KEY, s STRUCT(lng DOUBLE, lat DOUBLE), l DOUBLE[], p STRUCT("at" DOUBLE[2])[])`,
		`INSERT INTO m VALUES (1, {'lng': 10.7522, 'lat': 59.9139}, [10.7522, 59.9139], [{'at': [10.7522, 59.9139]}]), (2, {'lng': 200, 'lat': 1}, [5.3221, 60.3913], []),
			(3, {'lng': 'NaN'::DOUBLE, 'lat': 1}, ['NaN'::DOUBLE, 1], NULL), (4, {'lng': 'Infinity'::DOUBLE, 'lat': 1}, [1, '-Infinity'::DOUBLE], NULL), (5, {'lng': NULL, 'lat': 1}, [NULL, 1], NULL),
			(6, NULL, NULL, NULL), (7, {'lng': 1e308, 'lat': -1e308}, [1], NULL)`)
}
